package core

// SlidingWindowLog remembers the time of every admitted unit: at most the limit in
// any window, exactly. It costs eight bytes a unit, so its limit is at most a
// million.
func (p Policy) SlidingWindowLog() Policy {
	p.Algorithm = SlidingWindowLog
	return p.mustBeLegal()
}

// slidingLog keeps an entry for each unit, in microseconds, oldest first.
type slidingLog struct{}

func (slidingLog) check(t *Terms, p Policy) error {
	if t.Count > maxLogCount {
		return invalid("limit count %d: the sliding-window log holds an entry for each unit; give at most %d, or choose SlidingWindowCounter", t.Count, maxLogCount)
	}
	return firstErr(noBurst(p, t.Limit), noIntervals(p), noQueue(p))
}

func (slidingLog) words(*Terms) int { return entryWords }

func (l slidingLog) read(t *Terms, s state, now int64) (since, level int64, counts bool) {
	if s.len() == 0 {
		return 0, 0, false
	}
	since = s.newest() / t.Tick
	return since, l.level(t, s, max(since, now)), true
}

func (slidingLog) life(t *Terms, _ state) int64 { return t.Period }

// level is the entries that count at at: those of time e with e > at - W.
func (slidingLog) level(t *Terms, s state, at int64) int64 {
	edge := (at - t.Period + 1) * t.Tick // the first microsecond that counts
	return s.len() - s.before(edge)
}

func (slidingLog) fit(t *Terms, s state, at, level, n int64) (wait, delay int64) {
	excess := level + n - t.Count
	if excess <= 0 {
		return 0, 0
	}
	gone := s.len() - level
	return s.entry(gone+excess-1)/t.Tick + t.Period - at, 0
}

func (slidingLog) charge(t *Terms, s state, at, level, n int64) (then, turn int64) {
	s.drop(s.len() - level)
	s.push(at*t.Tick, n)
	return level + n, 0
}

func (l slidingLog) owe(t *Terms, s state, at, level, n int64) {
	l.charge(t, s, at, level, min(n, max(0, 2*t.Count-level)))
}

func (slidingLog) refund(t *Terms, s state, n, charged, _ int64) {
	s.remove(charged*t.Tick, (charged+1)*t.Tick, n)
}

func (slidingLog) report(t *Terms, s state, at, level int64) (remaining, reset int64) {
	if level == 0 {
		return t.Count, 0
	}
	return max(0, t.Count-level), s.newest()/t.Tick + t.Period - at
}

func (slidingLog) forget(s state) { s.drop(s.len()) }
