package core

import (
	"hash/maphash"
	"strconv"
	"time"
)

// Algorithm chooses how a policy counts. The zero value is the sliding-window
// counter.
type Algorithm uint8

// The five algorithms. Each is one room of this package: a Go file, a Lua file
// and a test of its name.
const (
	SlidingWindowCounter Algorithm = iota
	FixedWindow
	SlidingWindowLog
	TokenBucket
	LeakyBucket
)

// String is the algorithm's name, as in "token_bucket".
func (a Algorithm) String() string {
	if int(a) >= len(rooms) {
		return "algorithm " + strconv.Itoa(int(a))
	}
	return rooms[a].name
}

// Terms are a policy and one limit of it made ready for a store: checked, and in
// the units and ticks in which everything is decided. They are made by
// [Policy.Terms] and must not be changed.
type Terms struct {
	// Policy is the policy's name, or the text of its limit.
	Policy string
	// ID is the identity of a key's state beside the key: name, algorithm, period
	// and intervals. Another count or burst keeps the state; any other change
	// starts it anew.
	ID string
	// Limit is the limit that is in force.
	Limit Limit
	// Algorithm decides.
	Algorithm Algorithm
	// Police is a leaky bucket without delays.
	Police bool
	// DryRun never refuses.
	DryRun bool
	// Count is L and Capacity C, in units. A capacity of 0 refuses everything as
	// never.
	Count, Capacity int64
	// Tick is the unit of time that decides, in microseconds: 1, 1e3 or 1e6.
	Tick int64
	// Period is W, and Interval S, in ticks. Intervals is B.
	Period, Interval, Intervals int64
	// Lease is how many units an instance may take ahead; 0: none.
	Lease int64
	// LongestWait is M in whole ticks given in microseconds; negative: none.
	LongestWait int64

	// hash stands for ID in the memory store's keys, room decides, and words is the
	// length of a state.
	hash  hashKey
	room  arithmetic
	words int
}

// hashSeeds are two independent secrets: a key is known by 128 bits of hash that
// a client cannot compute.
var hashSeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// Terms makes the policy ready for a store with one limit: its own, or one chosen
// for a request. The error wraps [ErrInvalid].
func (p Policy) Terms(limit Limit) (*Terms, error) {
	if err := limit.Err(); err != nil {
		return nil, err
	}
	if int(p.Algorithm) >= len(rooms) {
		return nil, invalid("policy algorithm %d: give one of the five", p.Algorithm)
	}
	t := &Terms{
		Policy: p.DisplayName(), Limit: limit, Algorithm: p.Algorithm,
		Police: p.Police, DryRun: p.DryRun || p.OnExcess == Degrade,
		Tick: 1, LongestWait: -1,
	}
	if limit.kind == metered {
		if err := t.measure(p); err != nil {
			return nil, err
		}
	}
	t.ID = t.identity()
	t.room = rooms[t.Algorithm].arithmetic
	t.words = t.room.words(t)
	t.hash = hashKey{maphash.String(hashSeeds[0], t.ID), maphash.String(hashSeeds[1], t.ID)}
	return t, nil
}

// measure fills in the numbers of a metered limit.
func (t *Terms) measure(p Policy) error {
	room := rooms[t.Algorithm]
	period := t.Limit.Period.Microseconds()
	t.Count, t.Capacity = t.Limit.Count, t.Limit.Count
	t.Intervals = 1
	if err := room.check(t, p); err != nil {
		return err
	}
	interval := period / t.Intervals
	t.Tick = tick(max(t.Count, t.Capacity), period, interval)
	if t.Tick == 0 {
		return invalid("limit %v: %d units in %v cannot be counted exactly; give a smaller count or burst, or a period of whole seconds",
			t.Limit, max(t.Count, t.Capacity), t.Limit.Period)
	}
	t.Period, t.Interval = period/t.Tick, interval/t.Tick
	if err := t.lease(p.Lease); err != nil {
		return err
	}
	if p.LongestWait > 0 && p.OnExcess != Hold {
		t.LongestWait = floorTo(p.LongestWait.Microseconds(), t.Tick)
	}
	return nil
}

func (t *Terms) lease(units int64) error {
	switch {
	case units == 0:
		return nil
	case units < 0:
		return invalid("policy lease %d: give 1 or more, or 0 for none", units)
	case t.Algorithm != FixedWindow && t.Algorithm != TokenBucket:
		return invalid("policy lease %d: the %v has none; choose FixedWindow or TokenBucket, or leave it out", units, t.Algorithm)
	}
	t.Lease = min(units, t.Capacity) // a limit chosen for a request can be smaller
	return nil
}

// noBurst, noIntervals, noPolice: what an algorithm does not have is refused
// rather than ignored.

func noBurst(p Policy, limit Limit) error {
	if limit.Burst != 0 {
		return invalid("limit burst %d: the %v has none; choose TokenBucket or LeakyBucket, or leave it out", limit.Burst, p.Algorithm)
	}
	return nil
}

func noIntervals(p Policy) error {
	if p.Intervals != 0 {
		return invalid("policy intervals %d: only the sliding-window counter has them; choose SlidingWindowCounter, or leave them out", p.Intervals)
	}
	return nil
}

func noQueue(p Policy) error {
	if p.Police {
		return invalid("policy police: only the leaky bucket has it; choose LeakyBucket, or leave it out")
	}
	if p.LongestWait != 0 && p.OnExcess != Hold {
		return invalid("policy longest wait %v: only the leaky bucket makes requests wait; choose LeakyBucket or Holding, or leave it out", p.LongestWait)
	}
	return nil
}

func (t *Terms) identity() string {
	id := t.Policy + ":" + rooms[t.Algorithm].letter + strconv.FormatInt(t.Limit.Period.Microseconds(), 10)
	if t.Intervals > 1 {
		id += "/" + strconv.FormatInt(t.Intervals, 10)
	}
	return id
}

// shapes reports whether admitted requests wait for their turn.
func (t *Terms) shapes() bool { return t.Algorithm == LeakyBucket && !t.Police }

// floorTo rounds down to whole ticks.
func floorTo(us, tick int64) int64 { return us - us%tick }

// microseconds of ticks, as a duration.
func (t *Terms) duration(ticks int64) time.Duration {
	return time.Duration(ticks*t.Tick) * time.Microsecond
}

func firstErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
