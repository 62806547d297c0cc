package core

import (
	"context"
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

const (
	shardBits = 6
	shards    = 1 << shardBits // one bit each in a set of locks

	sweepEvery   = time.Second
	sweepRecords = 16 // under one lock: who waits for it spins, and does not sleep

	defaultMaxKeys = 1 << 22

	// A time that is passed in may have nothing to do with the store's clock:
	// what is written at it lives this long at least, in microseconds.
	testLife = int64(time.Minute / time.Microsecond)

	// Times are kept below the year 2200, so that sums of times and waits stay
	// below 2^53.
	maxTime = int64(7_258_118_400_000_000)
)

// Memory is the embedded store: everything in this process, nothing else to run.
// It is sharded and takes no lock for longer than a step. Keys that count nothing
// any more leave by themselves; one timer runs while there are keys, none when it
// is empty or closed. Its clock is the process's monotonic clock, laid on the wall
// clock when it is made. Keys are known by 128 bits of a secret hash.
//
// It holds a bounded number of keys (see [MaxKeys]) and forgets none of them early:
// a flood of new keys frees nobody who is limited. When it is full, keys that it
// does not hold are counted together, until others have left.
type Memory struct {
	max    int64            // keys of a shard
	full   atomic.Int64     // requests that were counted together
	now    func() time.Time // nil: the monotonic clock
	seen   atomic.Int64     // the last reading of now, which sweeping does not call
	base   time.Time
	baseUS int64 // base in microseconds since the Unix epoch

	shards atomic.Pointer[[shards]shard] // made by the first use
	closed atomic.Bool
	armed  atomic.Bool
	timer  atomic.Pointer[time.Timer]
}

// shard is a part of the keys with a lock of its own.
type shard struct {
	mu      sync.Mutex // guards all below
	tables  []*table   // by the width of their states; the logs' apart
	swept   int        // tables that this round of sweeping has done
	entries entryPool
	blocks  map[hashKey]keyBlock

	_ [64]byte // keeps the next shard's lock off this one's cache line
}

// keyBlock is a block and when it may be forgotten, on the store's clock.
type keyBlock struct {
	block
	expires int64
}

// MemoryOption is an option of [NewMemory].
type MemoryOption func(*Memory)

// WithNow makes the store read the time from now, for tests of the user's own
// code.
func WithNow(now func() time.Time) MemoryOption {
	return func(m *Memory) { m.now = now }
}

// MaxKeys bounds the keys that are held, all policies together: about 60 bytes each.
// For sliding-window logs, 15 entries a key on average are a bound of their own, of
// 128 bytes each, beyond which no new logs are begun; a part that has grown for them
// gives that back when its last log has left. The keys are spread over 64 parts by hash,
// and each takes a 64th: a small store is full a little early. The default is
// 4,194,304. It panics below 1 and above a billion.
func MaxKeys(n int64) MemoryOption {
	if n < 1 || n > maxCount {
		panic("ratelimit: MaxKeys: give the most keys to hold, 1 to 1e9")
	}
	return func(m *Memory) { m.max = ceilDiv(n, shards) }
}

// NewMemory makes an empty store. It holds no memory to speak of, and starts
// nothing, before it is used.
func NewMemory(options ...MemoryOption) *Memory {
	m := &Memory{base: time.Now(), max: defaultMaxKeys / shards}
	m.baseUS = m.base.UnixMicro()
	for _, option := range options {
		option(m)
	}
	return m
}

// Close forgets all keys and stops the timer. It can be called more than once;
// after it, the other methods return [ErrClosed].
func (m *Memory) Close() error {
	if m.closed.Swap(true) {
		return nil
	}
	if timer := m.timer.Load(); timer != nil {
		timer.Stop()
	}
	m.shards.Store(nil)
	return nil
}

// Len is the number of keys that are held.
func (m *Memory) Len() (n int) {
	all := m.shards.Load()
	if all == nil {
		return 0
	}
	for i := range all {
		n += all[i].len()
	}
	return n
}

// Overflowed is the number of times that a key was counted together with others
// because the store was full.
func (m *Memory) Overflowed() int64 { return m.full.Load() }

// clock is the store's own time, in microseconds since the Unix epoch.
func (m *Memory) clock() int64 {
	if m.now != nil {
		now := clampTime(m.now().UnixMicro())
		m.seen.Store(now)
		return now
	}
	return m.baseUS + int64(time.Since(m.base)/time.Microsecond)
}

func clampTime(us int64) int64 { return min(max(us, 0), maxTime) }

// open gives the shards, made at the first use.
func (m *Memory) open() (*[shards]shard, error) {
	if all := m.shards.Load(); all != nil {
		return all, nil
	}
	if m.closed.Load() {
		return nil, ErrClosed
	}
	m.shards.CompareAndSwap(nil, new([shards]shard))
	if all := m.shards.Load(); all != nil {
		return all, nil
	}
	return nil, ErrClosed
}

func keyOf(t *Terms, key string) hashKey {
	return hashKey{
		maphash.String(hashSeeds[0], key) ^ t.hash.a,
		maphash.String(hashSeeds[1], key) ^ t.hash.b,
	}
}

// Take implements [Store].
func (m *Memory) Take(_ context.Context, now time.Time, asks []Ask) error {
	all, err := m.open()
	if err != nil {
		return err
	}
	at := m.instant(now)
	if len(asks) == 1 {
		a := &asks[0]
		var s seat
		s.sit(all, a)
		s.shard.mu.Lock()
		s.shard.makeRoom(m.max, at.own)
		s.evaluate(m, a, at, true)
		s.decide(a, true, at)
		s.shard.mu.Unlock()
	} else {
		m.takeAll(all, at, asks)
	}
	m.arm()
	return nil
}

// takeAll decides over several asks under the locks of all their shards.
func (m *Memory) takeAll(all *[shards]shard, at instant, asks []Ask) {
	var few [4]seat
	seats := few[:]
	if len(asks) > len(few) {
		seats = make([]seat, len(asks))
	}
	set := lock(all, asks, seats)
	for i := range asks {
		seats[i].shard.makeRoom(m.max, at.own)
	}
	allowed := true
	for i := range asks {
		a, s := &asks[i], &seats[i]
		s.evaluate(m, a, at, true)
		allowed = allowed && (s.allowed || a.Terms.DryRun)
	}
	for i := range asks {
		seats[i].decide(&asks[i], allowed, at)
	}
	unlock(all, set)
}

// lock seats the asks and locks the set of their shards, lowest first.
func lock(all *[shards]shard, asks []Ask, seats []seat) (set uint64) {
	for i := range asks {
		set |= 1 << seats[i].sit(all, &asks[i])
	}
	for rest := set; rest != 0; rest &= rest - 1 {
		all[bits.TrailingZeros64(rest)].mu.Lock()
	}
	return set
}

func unlock(all *[shards]shard, set uint64) {
	for ; set != 0; set &= set - 1 {
		all[bits.TrailingZeros64(set)].mu.Unlock()
	}
}

// Adjust implements [Store].
func (m *Memory) Adjust(_ context.Context, now time.Time, asks []Ask, actual []int64) error {
	all, err := m.open()
	if err != nil {
		return err
	}
	at := m.instant(now)
	seats := make([]seat, len(asks))
	set := lock(all, asks, seats)
	for i := range asks {
		a, s := &asks[i], &seats[i]
		if a.Charged > 0 && actual[i] != a.Charged && a.Terms.Capacity > 0 {
			s.evaluate(m, a, at, actual[i] > a.Charged) // a refund goes to what was charged, or nowhere
			s.adjust(a, actual[i], at)
		}
	}
	unlock(all, set)
	m.arm()
	return nil
}

// Reset implements [Store].
func (m *Memory) Reset(_ context.Context, terms *Terms, key string) error {
	all, err := m.open()
	if err != nil {
		return err
	}
	var s seat
	s.sit(all, &Ask{Terms: terms, Key: key})
	s.shard.mu.Lock()
	defer s.shard.mu.Unlock()
	delete(s.shard.blocks, s.key)
	table := s.shard.table(terms, false)
	if number := table.find(s.key); number >= 0 {
		table.remove(number)
	}
	return nil
}

// Block implements [Store].
func (m *Memory) Block(_ context.Context, now time.Time, terms *Terms, key string, length time.Duration) error {
	all, err := m.open()
	if err != nil {
		return err
	}
	at, us := m.instant(now), length.Microseconds()
	var s seat
	s.sit(all, &Ask{Terms: terms, Key: key})
	s.shard.mu.Lock()
	defer s.shard.mu.Unlock()
	if us <= 0 {
		delete(s.shard.blocks, s.key)
		return nil
	}
	if s.shard.blocks == nil {
		s.shard.blocks = make(map[hashKey]keyBlock)
	}
	s.shard.blocks[s.key] = keyBlock{block{at.now, at.now + us}, at.expiry(us + terms.Tick)}
	m.arm()
	return nil
}
