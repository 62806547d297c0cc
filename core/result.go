package core

import "time"

// Result is what was decided of a request, over all its policies.
type Result struct {
	// Allowed reports whether the request may pass (after Delay).
	Allowed bool
	// Never is set with a refusal that no wait can mend: a cost above the capacity
	// or a blocked limit.
	Never bool
	// RetryAfter is the wait after which the same request would be admitted if
	// nothing else came. 0 when it was allowed or is never to be.
	RetryAfter time.Duration
	// Delay is how long the request must wait for its turn (leaky bucket).
	Delay time.Duration
	// Binding is the index of the policy that matters most: of those that refuse
	// the one with the longest wait, else the one with the least remaining. -1 if
	// none enforces.
	Binding int
	// StoreAway reports that the store did not answer and the policies' StoreAway
	// decided.
	StoreAway bool

	one   [1]Ask // what a single policy needs, without an allocation
	many  []Ask
	spent uint32 // set atomically by the first Refund or Settle
	store Store  // what was charged
}

// Decision is one policy's own part of a [Result].
type Decision struct {
	// Policy is the policy's name, or the text of its limit.
	Policy string
	// Limit is the limit that was in force for the request.
	Limit Limit
	// Capacity is the most units that the limit admits at once.
	Capacity int64
	// DryRun reports that the policy does not enforce (a degrading one neither).
	DryRun bool
	// Allowed is the policy's own decision, whatever the others decided.
	Allowed bool
	// Never is set with a refusal that no wait can mend.
	Never bool
	// Blocked is set with a refusal of a key that is blocked (see [Limiter.Block]).
	Blocked bool
	// Unasked is set where nothing is known of this policy: another one was known to
	// refuse the request, and the store was spared. All else is zero then.
	Unasked bool
	// Remaining is the whole units that could be admitted at once now.
	Remaining int64
	// RetryAfter is the policy's own wait, 0 when it allowed or never will.
	RetryAfter time.Duration
	// ResetAfter is the time until the key is as if never seen.
	ResetAfter time.Duration
	// Delay is how long the policy makes the request wait for its turn.
	Delay time.Duration
	// Charged is the units that were charged to the policy.
	Charged int64
}

// Len is the number of policies that were asked.
func (r *Result) Len() int { return len(r.asks()) }

// Decision is the i-th policy's own decision, in the order of the policies.
func (r *Result) Decision(i int) Decision {
	a := &r.asks()[i]
	return Decision{
		Policy: a.Terms.Policy, Limit: a.Terms.Limit, Capacity: a.Terms.Capacity, DryRun: a.Terms.DryRun,
		Allowed: a.Allowed, Never: a.Never, Blocked: a.Blocked, Unasked: a.Unasked, Remaining: a.Remaining,
		RetryAfter: a.RetryAfter, ResetAfter: a.ResetAfter, Delay: a.Delay, Charged: a.Charged,
	}
}

// Ask is what was asked of the store for the i-th policy, with its answer: the decision
// without a copy, for who is on the path of a request. It must not be changed, and its
// key may be a secret: do not log it.
func (r *Result) Ask(i int) *Ask { return &r.asks()[i] }

// Decisions are all policies' own decisions, in a new slice.
func (r *Result) Decisions() []Decision {
	all := make([]Decision, r.Len())
	for i := range all {
		all[i] = r.Decision(i)
	}
	return all
}

// RetryAfterSeconds is RetryAfter for a Retry-After field: whole seconds, rounded
// up, at least 1 for a refused request, and 0 where there is none to send.
func (r *Result) RetryAfterSeconds() int64 {
	if r.Allowed || r.Never {
		return 0
	}
	return max(1, ceilDiv(int64(r.RetryAfter), int64(time.Second)))
}

func (r *Result) asks() []Ask {
	if r.many != nil {
		return r.many
	}
	if r.one[0].Terms == nil {
		return nil
	}
	return r.one[:]
}

// summarize fills in what the request as a whole meets, from its policies'
// answers.
func (r *Result) summarize() {
	var binding *Ask
	r.Allowed, r.Binding = true, -1
	asks := r.asks()
	for i := range asks {
		a := &asks[i]
		if a.Terms.DryRun || a.Unasked || a.Terms.Limit.IsUnlimited() {
			continue
		}
		r.Delay = max(r.Delay, a.Delay)
		if binding == nil || tighter(a, binding) {
			binding, r.Binding = a, i
		}
	}
	if binding != nil {
		r.Allowed, r.Never, r.RetryAfter = binding.Allowed, binding.Never, binding.RetryAfter
	}
}

// tighter reports whether a matters more than b to a client.
func tighter(a, b *Ask) bool {
	switch {
	case a.Allowed != b.Allowed:
		return !a.Allowed
	case a.Never != b.Never:
		return a.Never
	case a.RetryAfter != b.RetryAfter:
		return a.RetryAfter > b.RetryAfter
	case a.Allowed && a.Remaining != b.Remaining:
		return a.Remaining < b.Remaining
	case a.Allowed:
		return a.ResetAfter > b.ResetAfter
	}
	return false
}
