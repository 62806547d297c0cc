package core

import "math/bits"

// What the two buckets share: use that drains at L units in W. A state is the time
// of the last charge and the use as it stood then, in units x W so that every part
// of a unit is a whole number.

// bucket words: 0 the time of the last charge << 2 | its tick, 1 the use, and for
// the leaky bucket 2 the number of the last turn.
type bucket struct{}

// tickCodes are the ticks by their code in a state.
var tickCodes = [...]int64{1, 1_000, 1_000_000}

func tickCode(tick int64) int64 {
	for code, t := range tickCodes {
		if t == tick {
			return int64(code)
		}
	}
	panic("ratelimit: no such tick")
}

func (bucket) check(t *Terms, p Policy) error {
	t.Capacity = t.Limit.capacity()
	// C x W / L is compared as a quotient: the product can pass 2^63.
	if t.Limit.Period.Microseconds() > maxDrain/t.Capacity*t.Count {
		return invalid("limit %v: a burst of %d takes more than 50 years to drain; give a smaller one", t.Limit, t.Capacity)
	}
	return noIntervals(p)
}

// load is the state's time and use in the ticks of the terms. Another tick
// converts: the time is floored, the use rounded up to whole units. A lowered
// limit cuts the use to twice the capacity.
func (bucket) load(t *Terms, s state) (since, used int64) {
	since, used = s.words[0]>>2, s.words[1]
	if tick := tickCodes[s.words[0]&3]; tick != t.Tick {
		period := t.Period * t.Tick / tick
		since = since * tick / t.Tick
		used = min(ceilDiv(used, period), 2*t.Capacity) * t.Period
	}
	return since, min(used, 2*t.Capacity*t.Period)
}

func (bucket) save(t *Terms, s state, since, used int64) {
	s.words[0], s.words[1] = since<<2|tickCode(t.Tick), used
}

// read: after a long time the product needs more than 64 bits.
func (b bucket) read(t *Terms, s state, now int64) (since, level int64, counts bool) {
	since, used := b.load(t, s)
	if now <= since {
		return since, used, used > 0
	}
	over, drained := bits.Mul64(uint64(now-since), uint64(t.Count))
	if over > 0 || drained >= uint64(used) {
		return since, 0, used > 0
	}
	return since, used - int64(drained), true
}

func (b bucket) life(t *Terms, s state) int64 {
	_, used := b.load(t, s)
	return ceilDiv(used, t.Count)
}

func (bucket) fit(t *Terms, _ state, _, level, n int64) (wait, delay int64) {
	over := level + (n-t.Capacity)*t.Period
	if over <= 0 {
		return 0, 0
	}
	return ceilDiv(over, t.Count), 0
}

func (b bucket) charge(t *Terms, s state, at, level, n int64) (then, turn int64) {
	then = level + n*t.Period
	b.save(t, s, at, then)
	return then, 0
}

// owe fills to exactly twice the capacity at most.
func (b bucket) owe(t *Terms, s state, at, level, n int64) {
	most := 2 * t.Capacity
	b.save(t, s, at, min(level+min(n, most)*t.Period, most*t.Period))
}

// refund takes n units off what is used now, even if those have drained since. The
// time stays that of the last charge.
func (b bucket) refund(t *Terms, s state, n, _, _ int64) {
	since, used := b.load(t, s)
	b.save(t, s, since, max(0, used-n*t.Period))
}

func (bucket) report(t *Terms, _ state, _, level int64) (remaining, reset int64) {
	return max(0, t.Capacity*t.Period-level) / t.Period, ceilDiv(level, t.Count)
}

func (bucket) forget(s state) { clear(s.words) }
