package core

import "math/bits"

// SlidingWindowCounter counts in intervals (1 to 100 for each period, which must
// divide by them) and weighs the oldest by how much of it the window still
// covers. One interval is the classic pair of counters; more follow the window
// more closely. It is the default algorithm: small, smooth and close.
//
// What is used at the start of one interval weighs until the end of the window that
// follows it, so with one interval a client who has used up a small limit can be
// refused for nearly two periods. More intervals, or the log, shorten that.
func (p Policy) SlidingWindowCounter(intervals int) Policy {
	if intervals == 0 {
		panic("ratelimit: intervals 0: give 1 to 100")
	}
	p.Algorithm, p.Intervals = SlidingWindowCounter, intervals
	return p.mustBeLegal()
}

// slidingCounter keeps the number of its newest interval since the epoch, and the
// counts of the last B+1 intervals, the newest first.
type slidingCounter struct{}

func (slidingCounter) check(t *Terms, p Policy) error {
	if p.Intervals < 0 || p.Intervals > maxIntervals {
		return invalid("policy intervals %d: give 1 to %d", p.Intervals, maxIntervals)
	}
	t.Intervals = max(1, int64(p.Intervals))
	if t.Limit.Period.Microseconds()%t.Intervals != 0 {
		return invalid("policy intervals %d: a period of %v does not divide by it; give a divisor", p.Intervals, t.Limit.Period)
	}
	return firstErr(noBurst(p, t.Limit), noQueue(p))
}

func (slidingCounter) words(t *Terms) int { return int(t.Intervals) + 2 }

// slot is where interval i is counted; nil where none is kept.
func (slidingCounter) slot(t *Terms, s state, i int64) *int64 {
	age := s.words[0] - i
	if age < 0 || age > t.Intervals {
		return nil
	}
	return &s.words[1+age]
}

func (c slidingCounter) count(t *Terms, s state, i int64) int64 {
	if slot := c.slot(t, s, i); slot != nil {
		return *slot
	}
	return 0
}

// newest is the newest interval that is not empty, and whether there is one.
func (c slidingCounter) newest(t *Terms, s state) (int64, bool) {
	for age, count := range s.words[1:] {
		if count > 0 {
			return s.words[0] - int64(age), true
		}
	}
	return 0, false
}

func (c slidingCounter) read(t *Terms, s state, now int64) (since, level int64, counts bool) {
	newest, ok := c.newest(t, s)
	if !ok {
		return 0, 0, false
	}
	since = newest * t.Interval
	return since, c.level(t, s, max(since, now)), true
}

func (slidingCounter) life(t *Terms, _ state) int64 { return (t.Intervals + 1) * t.Interval }

// full is what the intervals count that lie wholly in the window of interval k.
func (c slidingCounter) full(t *Terms, s state, k int64) (sum int64) {
	for i := k - t.Intervals + 1; i <= k; i++ {
		sum += c.count(t, s, i)
	}
	return sum
}

// level is the estimate, rounded up to whole units: what remains below a limit is then
// rounded down. The product of a count far above a lowered limit needs 128 bits.
func (c slidingCounter) level(t *Terms, s state, at int64) int64 {
	k, left := at/t.Interval, t.Interval-at%t.Interval
	full := c.full(t, s, k)
	over, product := bits.Mul64(uint64(c.count(t, s, k-t.Intervals)), uint64(left))
	part, rest := bits.Div64(over, product, uint64(t.Interval)) // at most the count
	if rest > 0 {
		part++
	}
	return full + int64(part)
}

func (c slidingCounter) fit(t *Terms, s state, at, level, n int64) (wait, delay int64) {
	if level+n <= t.Count {
		return 0, 0
	}
	first := at / t.Interval
	full := c.full(t, s, first)
	for k := first; ; k++ {
		if room := t.Count - n - full; room >= 0 {
			// It fits from where old x (S - e) <= room x S.
			e := int64(0)
			if old := c.count(t, s, k-t.Intervals); old > 0 {
				e = max(0, t.Interval-room*t.Interval/old)
			}
			if e < t.Interval {
				return k*t.Interval + e - at, 0
			}
		}
		full -= c.count(t, s, k-t.Intervals+1)
	}
}

func (c slidingCounter) charge(t *Terms, s state, at, level, n int64) (then, turn int64) {
	k := at / t.Interval
	c.advance(s, k)
	*c.slot(t, s, k) += n
	return level + n, 0
}

// advance makes k the newest interval, where it is later.
func (slidingCounter) advance(s state, k int64) {
	if k <= s.words[0] {
		return
	}
	counts := s.words[1:]
	passed := int(min(k-s.words[0], int64(len(counts))))
	copy(counts[passed:], counts)
	clear(counts[:passed])
	s.words[0] = k
}

func (c slidingCounter) owe(t *Terms, s state, at, level, n int64) {
	c.charge(t, s, at, level, min(n, max(0, 2*t.Count-level)))
}

func (c slidingCounter) refund(t *Terms, s state, n, charged, _ int64) {
	if slot := c.slot(t, s, charged/t.Interval); slot != nil {
		*slot -= min(n, *slot)
	}
}

func (c slidingCounter) report(t *Terms, s state, at, level int64) (remaining, reset int64) {
	newest, ok := c.newest(t, s)
	if !ok {
		return t.Count, 0
	}
	return max(0, t.Count-level), max(0, (newest+t.Intervals+1)*t.Interval-at)
}

func (slidingCounter) forget(s state) { clear(s.words) }
