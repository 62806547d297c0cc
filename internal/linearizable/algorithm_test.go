package linearizable

import (
	"slices"
	"sort"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// longest is more than any wait of the model, in microseconds.
const longest = 1 << 47

// state is what a key has counted. Times are microseconds, here and everywhere.
type state struct {
	marks       []int64 // of a window: one for each unit, in order
	since, used int64   // of a bucket: the last charge, and the use then
	turn        int64   // of a queue: the last one given out
}

func (s state) counts() bool { return len(s.marks) > 0 || s.used > 0 }

// time is that of the newest charge that counts.
func (s state) time() int64 {
	if len(s.marks) > 0 {
		return s.marks[len(s.marks)-1]
	}
	return s.since
}

// algorithm is one of the five, by what it counts. All else follows from that.
type algorithm struct {
	core.Policy
	capacity int64
	unit     int64                         // what level says of one unit
	level    func(s state, at int64) int64 // what counts at a time that is not before the state's
	mark     func(at int64) int64          // what a unit charged then is known by; nil: it is a bucket
	shapes   bool                          // requests wait their turn
}

// first is the smallest wait at whose end something holds that holds from then on.
func first(holds func(wait int64) bool) int64 {
	return int64(sort.Search(longest, func(wait int) bool { return holds(int64(wait)) }))
}

// reset is when nothing counts any more.
func (a *algorithm) reset(s state, at int64) int64 {
	return first(func(wait int64) bool { return a.level(s, at+wait) == 0 })
}

// see is a state as it is at a time: where the clock has stepped back, the state's time
// decides; where by more than its reset time, it is as if never seen.
func (a *algorithm) see(s state, now int64) (seen state, at, ahead int64) {
	if !s.counts() {
		return state{}, now, 0
	}
	ahead = max(0, s.time()-now)
	if ahead > 0 && ahead > a.reset(s, s.time()) {
		return state{}, now, 0
	}
	return s, now + ahead, ahead
}

// take is a request of n units: its answer, and the state after it.
func (a *algorithm) take(s state, now, n int64) (core.Answer, state) {
	seen, at, ahead := a.see(s, now)
	r := core.Answer{Never: n > a.capacity}
	if !r.Never && n > 0 {
		r.RetryAfter = onTheClock(ahead, first(func(wait int64) bool { return a.level(seen, at+wait)+n*a.unit <= a.capacity*a.unit }))
	}
	r.Allowed = !r.Never && r.RetryAfter == 0
	if r.Allowed && n > 0 {
		if a.shapes {
			r.Delay = onTheClock(ahead, a.reset(seen, at))
		}
		r.Charged, r.ChargedAt = n, at
		seen = a.charge(seen, at, n)
		s = seen
	}
	r.Remaining = max(0, a.capacity*a.unit-a.level(seen, at)) / a.unit
	r.ResetAfter = onTheClock(ahead, a.reset(seen, at))
	return r, s
}

// onTheClock is a wait of a state whose time is ahead.
func onTheClock(ahead, wait int64) time.Duration {
	if wait > 0 {
		wait += ahead
	}
	return time.Duration(wait) * time.Microsecond
}

// charge adds n units. What no longer counts then is forgotten.
func (a *algorithm) charge(s state, at, n int64) state {
	if a.mark == nil {
		return state{since: at, used: a.level(s, at) + n*a.unit}
	}
	var marks []int64
	for _, m := range s.marks {
		if a.level(state{marks: []int64{m}}, at) > 0 {
			marks = append(marks, m)
		}
	}
	return state{marks: append(marks, slices.Repeat([]int64{a.mark(at)}, int(n))...)}
}

// settle corrects a charge to what it really cost.
func (a *algorithm) settle(s state, now int64, charge core.Answer, actual int64) state {
	seen, at, _ := a.see(s, now)
	switch {
	case actual > charge.Charged:
		return a.owe(seen, at, actual-charge.Charged)
	case !seen.counts():
		return s
	}
	return a.refund(s, charge, charge.Charged-actual)
}

// owe charges past the limit: whole units up to twice the capacity, in a bucket to exactly
// that.
func (a *algorithm) owe(s state, at, n int64) state {
	room := max(0, 2*a.capacity*a.unit-a.level(s, at))
	if a.mark == nil {
		return state{since: at, used: a.level(s, at) + min(n*a.unit, room), turn: s.turn + 1}
	}
	return a.charge(s, at, min(n, room/a.unit))
}

// refund gives n units back: to the mark that was charged, or off a bucket's use.
func (a *algorithm) refund(s state, charge core.Answer, n int64) state {
	if a.mark == nil {
		if !a.shapes || s.turn == charge.Turn && s.since == charge.ChargedAt { // else another is behind it
			s.used = max(0, s.used-n*a.unit)
		}
		return s
	}
	var marks []int64
	for _, m := range s.marks {
		if m == a.mark(charge.ChargedAt) && n > 0 {
			n--
			continue
		}
		marks = append(marks, m)
	}
	return state{marks: marks}
}

// countOf is how many marks are from low to high.
func countOf(marks []int64, low, high int64) (n int64) {
	for _, m := range marks {
		if low <= m && m <= high {
			n++
		}
	}
	return n
}

const capacity = 8

// algorithms are all five, and the leaky bucket in both modes, of a limit of their capacity
// in a period. The buckets fill and drain at a rate that divides nothing evenly.
func algorithms(period time.Duration) []*algorithm {
	const intervals = 4
	window := period.Microseconds()
	part := window / intervals
	drain := func(s state, at int64) int64 { return max(0, s.used-(at-s.since)*(capacity-1)) }
	inWindow := core.Per(capacity, period)
	bucket := core.Per(capacity-1, period)
	return []*algorithm{
		{Policy: inWindow.FixedWindow().Named("fixed"), capacity: capacity, unit: 1,
			mark:  func(at int64) int64 { return at - at%window },
			level: func(s state, at int64) int64 { return countOf(s.marks, at-at%window, at) }},
		{Policy: inWindow.SlidingWindowLog().Named("log"), capacity: capacity, unit: 1,
			mark:  func(at int64) int64 { return at },
			level: func(s state, at int64) int64 { return countOf(s.marks, at-window+1, at) }},
		{Policy: inWindow.SlidingWindowCounter(intervals).Named("counter"), capacity: capacity, unit: part,
			mark: func(at int64) int64 { return at - at%part },
			level: func(s state, at int64) int64 {
				oldest := at - at%part - window
				return countOf(s.marks, oldest+1, at)*part + countOf(s.marks, oldest, oldest)*(part-at%part)
			}},
		{Policy: bucket.TokenBucket(capacity).Named("token"), capacity: capacity, unit: window, level: drain},
		{Policy: bucket.LeakyBucket(capacity).Named("leaky"), capacity: capacity, unit: window, level: drain, shapes: true},
		{Policy: bucket.LeakyBucket(capacity).Policing().Named("police"), capacity: capacity, unit: window, level: drain},
	}
}
