package core

// LeakyBucket is a queue of at most queue units that drains at the limit's rate:
// an admitted request waits its turn, so that what is behind it sees an even
// flow. See Police for the same admission without the wait, and WaitingAtMost.
func (p Policy) LeakyBucket(queue int64) Policy {
	if queue == 0 {
		panic("ratelimit: queue 0: give 1 or more, the most units that wait")
	}
	p.Algorithm, p.Limit.Burst = LeakyBucket, queue
	return p.mustBeLegal()
}

// Policing makes a leaky bucket admit at once what it would hold for its turn.
func (p Policy) Policing() Policy {
	p.Police = true
	return p.mustBeLegal()
}

// leakyBucket numbers its turns: only the last can be given back.
type leakyBucket struct{ bucket }

func (leakyBucket) words(*Terms) int { return 3 }

func (b leakyBucket) fit(t *Terms, s state, at, n int64) (wait, delay int64) {
	level := b.drained(t, s, at)
	wait = b.wait(t, level, n)
	if !t.Police {
		delay = ceilDiv(level, t.Count)
	}
	return wait, delay
}

func (b leakyBucket) charge(t *Terms, s state, at, n int64) (turn int64) {
	b.add(t, s, at, n)
	s.words[2]++
	return s.words[2]
}

func (b leakyBucket) owe(t *Terms, s state, at, n int64) {
	b.fill(t, s, at, n)
	s.words[2]++
}

func (b leakyBucket) refund(t *Terms, s state, _, n, charged, turn int64) {
	since, _ := b.load(t, s)
	if t.Police || turn == s.words[2] && charged == since {
		b.take(t, s, n)
	}
}
