package core

// TokenBucket admits while there are tokens: it starts with burst of them and
// refills at the limit's rate. In any time T at most burst + rate x T units pass,
// so in its first period a full bucket admits its burst and then the rate as well.
func (p Policy) TokenBucket(burst int64) Policy {
	if burst == 0 {
		panic("ratelimit: burst 0: give 1 or more, the most units admitted at once")
	}
	p.Algorithm, p.Limit.Burst = TokenBucket, burst
	return p.mustBeLegal()
}

// tokenBucket keeps what is used, not what is left, so that a changed limit keeps
// it.
type tokenBucket struct{ bucket }

func (b tokenBucket) check(t *Terms, p Policy) error {
	return firstErr(b.bucket.check(t, p), noQueue(p))
}

func (tokenBucket) words(*Terms) int { return 2 }
