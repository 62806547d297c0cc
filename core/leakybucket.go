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

func (b leakyBucket) fit(t *Terms, s state, at, level, n int64) (wait, delay int64) {
	wait, _ = b.bucket.fit(t, s, at, level, n)
	if !t.Police {
		delay = ceilDiv(level, t.Count)
	}
	return wait, delay
}

func (b leakyBucket) charge(t *Terms, s state, at, level, n int64) (then, turn int64) {
	then, _ = b.bucket.charge(t, s, at, level, n)
	s.words[2]++
	return then, s.words[2]
}

func (b leakyBucket) owe(t *Terms, s state, at, level, n int64) {
	b.bucket.owe(t, s, at, level, n)
	s.words[2]++
}

func (b leakyBucket) refund(t *Terms, s state, n, charged, turn int64) {
	since, _ := b.load(t, s)
	if t.Police || turn == s.words[2] && charged == since {
		b.bucket.refund(t, s, n, charged, turn)
	}
}
