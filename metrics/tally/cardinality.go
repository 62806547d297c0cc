package tally

import (
	"math"
	"math/bits"
	"sync/atomic"
)

const (
	registerBits = 11
	registers    = 1 << registerBits
)

// cardinality estimates how many different hashes it has seen, in 8 KiB whatever
// their number, to about 2.3 %: HyperLogLog, by Flajolet and others (2007), with
// their linear counting where few were seen. Nothing is locked.
type cardinality struct {
	ranks [registers]atomic.Uint32
}

func (c *cardinality) add(hash uint64) {
	// The guard bit bounds the rank.
	rank := uint32(bits.LeadingZeros64(hash<<registerBits|1<<(registerBits-1))) + 1
	c.raise(int(hash>>(64-registerBits)), rank)
}

func (c *cardinality) raise(i int, rank uint32) {
	for {
		known := c.ranks[i].Load()
		if known >= rank || c.ranks[i].CompareAndSwap(known, rank) {
			return
		}
	}
}

// merge adds what another has seen.
func (c *cardinality) merge(other *cardinality) {
	for i := range other.ranks {
		c.raise(i, other.ranks[i].Load())
	}
}

func (c *cardinality) reset() {
	for i := range c.ranks {
		c.ranks[i].Store(0)
	}
}

func (c *cardinality) estimate() int64 {
	sum, unseen := 0.0, 0
	for i := range c.ranks {
		rank := c.ranks[i].Load()
		sum += math.Ldexp(1, -int(rank))
		if rank == 0 {
			unseen++
		}
	}
	const m = float64(registers)
	raw := 0.7213 / (1 + 1.079/m) * m * m / sum
	if raw <= 2.5*m && unseen > 0 {
		return int64(math.Round(m * math.Log(m/float64(unseen))))
	}
	return int64(math.Round(raw))
}
