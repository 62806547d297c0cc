package redisstore

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// call is one call of the script, and its reply.
type call struct {
	args  []any // of EVALSHA
	reply reply
	err   error
}

// verb is what the script is to do.
type verb int64

const (
	weigh verb = iota // says what a take would meet, and charges nothing
	take
	adjust
	block
	reset
)

// boxed values need no memory of their own in every call.
var (
	evalsha any = "evalsha"
	digest  any = scriptHash
)

// takeCall asks for decisions together: see script.lua. Those that differ in their keys
// only are one run.
func (s *Store) takeCall(v verb, now time.Time, decisions [][]core.Ask) *call {
	keys := 0
	for _, asks := range decisions {
		keys += len(asks)
	}
	args := keysOf(keys, decisions...)
	numbers := header(v, now, min(keys, 8))
	for len(decisions) > 0 {
		n := alike(decisions)
		numbers = appendNumbers(numbers, int64(n), int64(len(decisions[0])))
		for i := range decisions[0] {
			a := &decisions[0][i]
			numbers = appendTerms(numbers, a.Terms)
			numbers = appendNumbers(numbers, min(a.Cost, a.Terms.Capacity+1), max(-1, min(a.LongestWait, maxTime)), 0, 0)
		}
		decisions = decisions[n:]
	}
	return &call{args: append(args, numbers)}
}

// alike is how many decisions from the first on differ in their keys only.
func alike(decisions [][]core.Ask) int {
	n := 1
	for n < len(decisions) && sameButKeys(decisions[0], decisions[n]) {
		n++
	}
	return n
}

func sameButKeys(a, b []core.Ask) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Terms != b[i].Terms || a[i].Cost != b[i].Cost || a[i].LongestWait != b[i].LongestWait {
			return false
		}
	}
	return true
}

// actCall is a call of one decision by a verb that replies nothing but that it was done.
// about are the four numbers of an ask that depend on the verb.
func actCall(v verb, now time.Time, asks []core.Ask, about func(i int) [4]int64) *call {
	numbers := appendNumbers(header(v, now, len(asks)), 1, int64(len(asks)))
	for i := range asks {
		four := about(i)
		numbers = appendNumbers(appendTerms(numbers, asks[i].Terms), four[:]...)
	}
	return &call{args: append(keysOf(len(asks), asks), numbers)}
}

// keysOf are the arguments up to the last key.
func keysOf(keys int, decisions ...[]core.Ask) []any {
	args := make([]any, 0, 4+keys)
	args = append(args, evalsha, digest, keys)
	for _, asks := range decisions {
		for i := range asks {
			args = append(args, asks[i].Key)
		}
	}
	return args
}

// header begins the numbers, with room for those of some asks. The time is that which a
// test passes in, else the server's.
func header(v verb, now time.Time, asks int) []byte {
	us := int64(-1)
	if !now.IsZero() {
		us = min(max(now.UnixMicro(), 0), maxTime)
	}
	return appendNumbers(make([]byte, 0, 32+96*asks), int64(v), us)
}

// appendTerms adds terms as the script reads them.
func appendTerms(numbers []byte, t *core.Terms) []byte {
	return appendNumbers(numbers, int64(t.Algorithm), t.Count, t.Capacity, t.Tick, t.Period, max(1, t.Intervals), flag(t.Police), flag(t.DryRun))
}

// appendNumbers adds numbers, each as a double.
func appendNumbers(text []byte, numbers ...int64) []byte {
	for _, n := range numbers {
		text = binary.LittleEndian.AppendUint64(text, math.Float64bits(float64(n)))
	}
	return text
}

func flag(set bool) int64 {
	if set {
		return 1
	}
	return 0
}
