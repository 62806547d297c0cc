package core

import (
	"strconv"
	"strings"
	"time"
)

// Policy is one limit with all that belongs to it: who is counted, how, and
// what happens on excess. It is a plain value: the chain of methods and a struct
// literal decide the same, and a zero field is the default.
//
//	core.PerMinute(5).SlidingWindowLog().Named("login").By(keyfuncs.Header("X-API-Key"))
//
// The constructors and the chain panic on misuse, with the mend in the text. A
// policy that comes from a file is checked by [Policy.Err] or [NewLimiter].
type Policy struct {
	// Name identifies the policy: on one store, policies of one name share one
	// budget. It is shown to clients. Printable ASCII, at most 64 bytes. Empty:
	// the policy is called after its limit, which middlewares on a given store refuse.
	Name string
	// Limit is how many units pass in how much time.
	Limit Limit
	// Algorithm decides. Zero is the sliding-window counter.
	Algorithm Algorithm
	// Intervals is the number of intervals of the sliding-window counter, 1 to
	// 100. Zero is 1: the classic two counters.
	Intervals int
	// Police makes the leaky bucket admit at once, without a delay, what it would
	// otherwise hold for its turn.
	Police bool
	// LongestWait is the longest that a request waits, for its turn in a leaky
	// bucket or, with OnExcess Hold, for a second try. Zero: no bound of the
	// policy's own; the request's deadline always bounds it.
	LongestWait time.Duration

	// Key says whom a request is counted against. Nil: the peer's IP address.
	Key Key
	// NoKey is what happens where Key finds nothing.
	NoKey NoKey
	// Cost says how many units a request asks for. Nil: one. Zero asks for none:
	// the request is not charged.
	Cost func(Request) (int64, error)
	// LimitFor chooses a limit for each request, a plan per tenant. Nil: Limit.
	LimitFor func(Request) (Limit, error)

	// Lease is how many units an instance takes ahead in one call of a store over a
	// network, to hand them out itself: for very hot keys. Zero: none. It is for the
	// fixed window and the token bucket, in a limiter of one policy. See Leasing.
	Lease int64

	// OnExcess is what a request meets that the limit does not admit.
	OnExcess Action
	// DryRun decides, counts and reports, and never refuses.
	DryRun bool
	// Count gives units back after the handler, by outcome.
	Count Outcomes
	// StoreAway is what happens when the store does not answer.
	StoreAway StoreAway
	// Instances divides the limit when it is decided locally because the store
	// is away: one instance's share, rounded up. Zero is 1, the whole limit.
	Instances int
}

// NoKey is what happens to a request whose key finds nothing.
type NoKey uint8

const (
	// CountByPeer counts the request by peer IP, in a space of its own for the
	// policy: a header left out is no escape. The default.
	CountByPeer NoKey = iota
	// RefuseNoKey answers 400.
	RefuseNoKey
	// SkipNoKey leaves the policy out for this request.
	SkipNoKey
)

// Action is what a request meets that a limit does not admit.
type Action uint8

const (
	// Refuse answers 429. The default.
	Refuse Action = iota
	// Hold waits for RetryAfter, at most LongestWait, and asks again. It reserves
	// nothing meanwhile.
	Hold
	// Degrade lets the request pass with the [Result] in its context, for the
	// handler to act on. It is charged like a dry run.
	Degrade
)

// Outcomes says which requests stay charged once their outcome is known. An
// unknown outcome is never given back.
type Outcomes uint8

const (
	// CountAll gives nothing back. The default.
	CountAll Outcomes = iota
	// CountFailures gives back what succeeded: only failures count. Where a failed
	// login is answered with 200 or a redirect, tell it by Options.Failure.
	CountFailures
	// CountSuccesses gives back what failed: only successes count.
	CountSuccesses
)

// StoreAway is what happens to a request when the store does not answer.
type StoreAway uint8

const (
	// Local decides by the same policies in this instance's memory. The default.
	Local StoreAway = iota
	// Closed answers 503.
	Closed
	// Open admits.
	Open
)

// PerSecond is a policy of count units a second. It panics on a count that is
// not legal, like every constructor and method of the chain.
func PerSecond(count int64) Policy { return Per(count, time.Second) }

// PerMinute is a policy of count units a minute.
func PerMinute(count int64) Policy { return Per(count, time.Minute) }

// PerHour is a policy of count units an hour.
func PerHour(count int64) Policy { return Per(count, time.Hour) }

// PerDay is a policy of count units in 24 hours, whatever the calendar says.
func PerDay(count int64) Policy { return Per(count, 24*time.Hour) }

// Per is a policy of count units in each period.
func Per(count int64, period time.Duration) Policy {
	return Policy{Limit: Limit{Count: count, Period: period}}.mustBeLegal()
}

// PerLimit is a policy of a limit that is at hand, such as one from [ParseLimit]: with
// a burst a token bucket, without one the default algorithm. A field can be set
// instead: Policy{Limit: l, Algorithm: TokenBucket}.
func PerLimit(limit Limit) Policy {
	p := Policy{Limit: limit}
	if limit.Burst > 0 {
		p.Algorithm = TokenBucket
	}
	return p.mustBeLegal()
}

// Named gives the policy its name, which is its identity on a store.
func (p Policy) Named(name string) Policy {
	if name == "" {
		panic("ratelimit: policy name \"\": give it a name, or leave Named out")
	}
	p.Name = name
	return p.mustBeLegal()
}

// By says whom requests are counted against. Several keys are joined: a request
// is counted against all of them together.
func (p Policy) By(keys ...Key) Policy {
	p.Key = Join(keys...)
	return p
}

// WithoutKey says what happens where the key finds nothing.
func (p Policy) WithoutKey(outcome NoKey) Policy {
	p.NoKey = outcome
	return p.mustBeLegal()
}

// Costing says how many units a request asks for.
func (p Policy) Costing(cost func(Request) (int64, error)) Policy {
	p.Cost = cost
	return p
}

// LimitBy chooses a limit for each request, a plan per tenant. Its limits may be
// [Unlimited] or [Blocked]; who is not known needs one too. They must suit the policy's
// algorithm, as [Policy.Terms] tells at start-up: only the buckets take a burst. A
// tenant whose period changes starts anew.
func (p Policy) LimitBy(limit func(Request) (Limit, error)) Policy {
	p.LimitFor = limit
	return p
}

// Holding makes a request that is not admitted wait for longest at most and ask
// again. The request's own deadline bounds it too.
func (p Policy) Holding(longest time.Duration) Policy {
	if longest <= 0 {
		panic("ratelimit: longest wait " + longest.String() + ": give a time above 0")
	}
	p.OnExcess, p.LongestWait = Hold, longest
	return p.mustBeLegal()
}

// WaitingAtMost bounds the delay of a leaky bucket: who would wait longer is
// refused.
func (p Policy) WaitingAtMost(longest time.Duration) Policy {
	if longest <= 0 {
		panic("ratelimit: longest wait " + longest.String() + ": give a time above 0")
	}
	p.LongestWait = longest
	return p.mustBeLegal()
}

// Degrading lets requests in excess pass, with the [Result] in their context.
func (p Policy) Degrading() Policy {
	p.OnExcess = Degrade
	return p.mustBeLegal()
}

// AsDryRun decides, counts and reports, and never refuses.
func (p Policy) AsDryRun() Policy {
	p.DryRun = true
	return p
}

// Counting gives units back after the handler, by outcome.
func (p Policy) Counting(outcomes Outcomes) Policy {
	p.Count = outcomes
	return p.mustBeLegal()
}

// WhenStoreAway says what happens when the store does not answer.
func (p Policy) WhenStoreAway(outcome StoreAway) Policy {
	p.StoreAway = outcome
	return p.mustBeLegal()
}

// LocalShare divides the limit by the number of instances while each decides
// for itself because the store is away.
func (p Policy) LocalShare(instances int) Policy {
	if instances < 1 {
		panic("ratelimit: instances " + strconv.Itoa(instances) + ": give 1 or more")
	}
	p.Instances = instances
	return p.mustBeLegal()
}

// Leasing makes an instance take units ahead in one call of a store over a network,
// and hand them out itself, for keys so hot that a call for each request is too
// much. What is not used goes back after a second, and when the store is closed.
//
// The fixed window stays exact. With the token bucket, in any time T at most burst +
// rate x T + what is out on lease pass: units times the number of instances. What it
// costs: while one instance holds units that it does not need, another may refuse a
// client, up to units for each of the others; and a reset or block by another
// instance shows when the lease is used up. The other algorithms, and limiters of
// several policies, refuse it. The store in memory needs none and ignores it.
func (p Policy) Leasing(units int64) Policy {
	if units == 0 {
		panic("ratelimit: lease 0: give 1 or more, or leave it out")
	}
	p.Lease = units
	return p.mustBeLegal()
}

// DisplayName is the name, or the text of the limit where there is none.
func (p Policy) DisplayName() string {
	if p.Name != "" {
		return p.Name
	}
	return p.Limit.String()
}

// Err says what is wrong with the policy, or nil. It wraps [ErrInvalid].
func (p Policy) Err() error {
	if err := p.choicesErr(); err != nil {
		return err
	}
	_, err := p.Terms(p.Limit)
	return err
}

func (p Policy) choicesErr() error {
	switch {
	case len(p.Name) > 64 || strings.ContainsFunc(p.Name, notPrintableASCII):
		return invalid("policy name %s: give at most 64 printable ASCII characters", quoted(p.Name))
	case p.NoKey > SkipNoKey:
		return invalid("policy choice NoKey %d: give CountByPeer, RefuseNoKey or SkipNoKey", p.NoKey)
	case p.OnExcess > Degrade:
		return invalid("policy choice OnExcess %d: give Refuse, Hold or Degrade", p.OnExcess)
	case p.Count > CountSuccesses:
		return invalid("policy choice Count %d: give CountAll, CountFailures or CountSuccesses", p.Count)
	case p.StoreAway > Open:
		return invalid("policy choice StoreAway %d: give Local, Closed or Open", p.StoreAway)
	case p.Instances < 0:
		return invalid("policy instances %d: give 1 or more", p.Instances)
	case p.LongestWait < 0:
		return invalid("policy longest wait %v: give a time above 0", p.LongestWait)
	}
	return nil
}

func notPrintableASCII(r rune) bool { return r < 0x20 || r > 0x7e }

func (p Policy) mustBeLegal() Policy {
	if err := p.Err(); err != nil {
		panic(err.Error())
	}
	return p
}
