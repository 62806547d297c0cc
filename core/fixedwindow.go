package core

// FixedWindow counts in windows that begin at whole multiples of the period since
// the Unix epoch. It is the cheapest, and lets up to twice the limit pass around
// the boundary of two windows.
func (p Policy) FixedWindow() Policy {
	p.Algorithm = FixedWindow
	return p.mustBeLegal()
}

// fixedWindow keeps the number of its window since the epoch and the units
// counted in it.
type fixedWindow struct{}

func (fixedWindow) check(t *Terms, p Policy) error {
	return firstErr(noBurst(p, t.Limit), noIntervals(p), noQueue(p))
}

func (fixedWindow) words(*Terms) int { return 2 }

func (w fixedWindow) read(t *Terms, s state, now int64) (since, level int64, counts bool) {
	since = s.words[0] * t.Period
	return since, w.level(t, s, max(since, now)), s.words[1] > 0
}

func (fixedWindow) life(t *Terms, _ state) int64 { return t.Period }

// level is what the window of at counts.
func (fixedWindow) level(t *Terms, s state, at int64) int64 {
	if s.words[0] != at/t.Period {
		return 0
	}
	return s.words[1]
}

func (fixedWindow) fit(t *Terms, _ state, at, level, n int64) (wait, delay int64) {
	if level+n <= t.Count {
		return 0, 0
	}
	return t.Period - at%t.Period, 0
}

func (fixedWindow) charge(t *Terms, s state, at, level, n int64) (then, turn int64) {
	s.words[0], s.words[1] = at/t.Period, level+n
	return level + n, 0
}

func (w fixedWindow) owe(t *Terms, s state, at, level, n int64) {
	w.charge(t, s, at, level, min(n, max(0, 2*t.Count-level)))
}

func (w fixedWindow) refund(t *Terms, s state, n, charged, _ int64) {
	s.words[1] -= min(n, w.level(t, s, charged))
}

func (fixedWindow) report(t *Terms, _ state, at, level int64) (remaining, reset int64) {
	if level == 0 {
		return t.Count, 0
	}
	return max(0, t.Count-level), t.Period - at%t.Period
}

func (fixedWindow) forget(s state) { clear(s.words) }
