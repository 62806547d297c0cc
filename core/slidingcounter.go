package core

// SlidingWindowCounter counts in intervals (1 to 100 for each period, which must
// divide by them) and weighs the oldest by how much of it the window still
// covers. One interval is the classic pair of counters; more follow the window
// more closely. It is the default algorithm: small, smooth and close.
func (p Policy) SlidingWindowCounter(intervals int) Policy {
	if intervals == 0 {
		panic("ratelimit: intervals 0: give 1 to 100")
	}
	p.Algorithm, p.Intervals = SlidingWindowCounter, intervals
	return p.mustBeLegal()
}

// slidingCounter keeps the number of its newest interval since the epoch, and a
// ring of the last B+1 intervals' counts.
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

// at is where interval i is counted; nil where the ring does not reach.
func (slidingCounter) slot(t *Terms, s state, i int64) *int64 {
	if newest := s.words[0]; i > newest || i < newest-t.Intervals || i < 0 {
		return nil
	}
	return &s.words[1+i%(t.Intervals+1)]
}

func (c slidingCounter) count(t *Terms, s state, i int64) int64 {
	if slot := c.slot(t, s, i); slot != nil {
		return *slot
	}
	return 0
}

// newest is the newest interval that is not empty, and whether there is one.
func (c slidingCounter) newest(t *Terms, s state) (int64, bool) {
	for i := s.words[0]; i >= s.words[0]-t.Intervals; i-- {
		if c.count(t, s, i) > 0 {
			return i, true
		}
	}
	return 0, false
}

func (c slidingCounter) since(t *Terms, s state) (at int64, counts bool) {
	newest, ok := c.newest(t, s)
	return newest * t.Interval, ok
}

func (slidingCounter) life(t *Terms, _ state) int64 { return (t.Intervals + 1) * t.Interval }

// full is what the intervals count that lie wholly in the window of interval k.
func (c slidingCounter) full(t *Terms, s state, k int64) (sum int64) {
	for i := k - t.Intervals + 1; i <= k; i++ {
		sum += c.count(t, s, i)
	}
	return sum
}

// room is the whole units that fit beside the estimate at at, below a limit. The
// oldest interval's part, old x left / S, is rounded up, which leaves the floor
// of the room. Compared before it is multiplied: old can be far above a lowered
// limit.
func (c slidingCounter) room(t *Terms, s state, at, limit int64) int64 {
	k, left := at/t.Interval, t.Interval-at%t.Interval
	old, room := c.count(t, s, k-t.Intervals), limit-c.full(t, s, k)
	if room <= 0 {
		return 0
	}
	if old == 0 {
		return room
	}
	if left > room*t.Interval/old {
		return 0
	}
	return room - ceilDiv(old*left, t.Interval)
}

func (c slidingCounter) fit(t *Terms, s state, at, n int64) (wait, delay int64) {
	if c.room(t, s, at, t.Count) >= n {
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

func (c slidingCounter) charge(t *Terms, s state, at, n int64) int64 {
	k := at / t.Interval
	for i := max(s.words[0]+1, k-t.Intervals); i <= k; i++ {
		s.words[1+i%(t.Intervals+1)] = 0
	}
	s.words[0] = max(s.words[0], k)
	*c.slot(t, s, k) += n
	return 0
}

func (c slidingCounter) owe(t *Terms, s state, at, n int64) {
	c.charge(t, s, at, min(n, c.room(t, s, at, 2*t.Count)))
}

func (c slidingCounter) refund(t *Terms, s state, _, n, charged, _ int64) {
	if slot := c.slot(t, s, charged/t.Interval); slot != nil {
		*slot -= min(n, *slot)
	}
}

func (c slidingCounter) report(t *Terms, s state, at int64) (remaining, reset int64) {
	newest, ok := c.newest(t, s)
	if !ok {
		return t.Count, 0
	}
	return c.room(t, s, at, t.Count), max(0, (newest+t.Intervals+1)*t.Interval-at)
}

func (slidingCounter) forget(s state) { clear(s.words) }
