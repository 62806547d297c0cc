package core

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// The path of a decision: the asks are completed, the store decides them in one
// call, and the policies' StoreAway stands in where it does not answer.

func (l *Limiter) decide(ctx context.Context, r *Result) error {
	now := l.clock()
	asks := r.asks()
	metered := len(asks)
	for i := range asks {
		a := &asks[i]
		if a.Cost < 0 {
			return fmt.Errorf("%w %d for policy %q: give 0 or more", ErrNegativeCost, a.Cost, a.Terms.Policy)
		}
		a.LongestWait = a.Terms.LongestWait
		if a.Terms.shapes() {
			a.LongestWait = untilDeadline(ctx, now, a.LongestWait)
		}
		if a.Terms.Limit.IsUnlimited() {
			a.Answer = Answer{Allowed: true, Remaining: maxCount}
			metered--
		}
	}
	r.store = l.store
	var err error
	if l.memory != nil && metered == len(asks) {
		// Called directly, so that the result need not live on the heap.
		err = l.memory.Take(ctx, now, asks)
	} else {
		moved := *r
		err = l.decideRemote(ctx, now, &moved, metered)
		*r = moved
	}
	if err == nil {
		r.summarize()
	}
	return err
}

// decideRemote is decide for any store, and where some policies are unlimited.
func (l *Limiter) decideRemote(ctx context.Context, now time.Time, r *Result, metered int) error {
	asks := r.asks()
	sent := asks
	if metered < len(asks) {
		sent = make([]Ask, 0, metered)
		for _, a := range asks {
			if !a.Terms.Limit.IsUnlimited() {
				sent = append(sent, a)
			}
		}
	}
	if metered == 0 {
		return nil
	}
	if err := l.store.Take(ctx, now, sent); err != nil {
		return l.decideAway(ctx, now, r, err)
	}
	for i, j := 0, 0; j < metered && metered < len(asks); i++ {
		if !asks[i].Terms.Limit.IsUnlimited() {
			asks[i] = sent[j]
			j++
		}
	}
	return nil
}

// decideAway decides a request whose store did not answer, by the policies'
// StoreAway: any closed policy fails it, the local ones decide, the open ones
// admit.
func (l *Limiter) decideAway(ctx context.Context, now time.Time, r *Result, cause error) error {
	if ctx.Err() != nil { // the caller left or ran out of time: no fault of the store
		return fmt.Errorf("ratelimit: not decided: %w", context.Cause(ctx))
	}
	asks := r.asks()
	local := make([]Ask, 0, len(asks))
	for i := range asks {
		a, b := &asks[i], l.policies[i]
		switch {
		case a.Terms.Limit.IsUnlimited():
		case b.StoreAway == Closed:
			r.StoreAway, r.Binding, r.RetryAfter = true, i, time.Second
			return fmt.Errorf("%w: %w", ErrStoreAway, cause)
		case b.StoreAway == Open:
			a.Answer = Answer{Allowed: true, Remaining: a.Terms.Capacity}
		default:
			local = append(local, *a)
		}
	}
	if len(local) > 0 {
		if err := l.takeLocal(ctx, now, local); err != nil {
			return err
		}
	}
	for i, j := 0, 0; i < len(asks); i++ {
		if l.policies[i].StoreAway == Local && !asks[i].Terms.Limit.IsUnlimited() {
			waitForShare(&local[j], asks[i].Terms)
			asks[i] = local[j]
			j++
		}
	}
	r.StoreAway, r.store = true, l.local
	return nil
}

// takeLocal decides in this instance's memory, each limit at this instance's
// share. It starts empty and is not copied back.
func (l *Limiter) takeLocal(ctx context.Context, now time.Time, asks []Ask) error {
	l.localOnce.Do(func() { l.local = NewMemory() })
	for i := range asks {
		whole := asks[i].Terms
		share, err := l.policyOf(whole).ready(whole.Limit)
		if err != nil {
			return err
		}
		asks[i].Terms = share[1]
	}
	return l.local.Take(ctx, now, asks)
}

// waitForShare: a cost within the limit but above this instance's share of it is
// not never. It waits a period.
func waitForShare(share *Ask, whole *Terms) {
	if share.Never && share.Cost <= whole.Capacity && whole.Capacity > 0 {
		share.Never, share.RetryAfter = false, whole.Limit.Period
	}
}

func (l *Limiter) policyOf(t *Terms) *bound {
	for _, b := range l.policies {
		if b.terms.Policy == t.Policy {
			return b
		}
	}
	return nil
}

func (l *Limiter) clock() time.Time {
	if l.now == nil {
		return time.Time{}
	}
	return l.now()
}

// untilDeadline bounds a longest wait by what the request's deadline leaves.
func untilDeadline(ctx context.Context, now time.Time, longest int64) int64 {
	deadline, ok := ctx.Deadline()
	if !ok {
		return longest
	}
	left := time.Until(deadline)
	if !now.IsZero() {
		left = deadline.Sub(now)
	}
	us := max(0, left.Microseconds())
	if longest < 0 {
		return us
	}
	return min(longest, us)
}

// Wait takes one unit of every policy, sleeping until it is admitted and its turn
// has come. It fails at once where no wait helps or the deadline is too near (the
// error wraps [ErrRefused]), and when ctx ends, with nothing charged.
func (l *Limiter) Wait(ctx context.Context, keys ...string) error {
	for {
		r, err := l.Take(ctx, keys...)
		if err != nil {
			return err
		}
		wait := r.RetryAfter
		if r.Allowed {
			wait = r.Delay
		}
		deadline, bounded := ctx.Deadline()
		if r.Never || bounded && wait > 0 && wait >= time.Until(deadline) {
			l.giveBack(&r)
			return fmt.Errorf("%w: %w", ErrRefused, refusal(r))
		}
		if !sleep(ctx, wait) {
			l.giveBack(&r)
			return context.Cause(ctx)
		}
		if r.Allowed {
			return nil
		}
	}
}

func refusal(r Result) error {
	if r.Never {
		return fmt.Errorf("policy %q never admits it", r.Decision(r.Binding).Policy)
	}
	return fmt.Errorf("the wait is longer than the deadline leaves: %w", context.DeadlineExceeded)
}

// giveBack refunds on behalf of a caller who has left: its context is over, the
// refund's is not.
func (l *Limiter) giveBack(r *Result) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = l.Refund(ctx, r) // at worst a turn passes unused
}

func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Refund gives back what the decision charged, once: whatever is called after it
// with the same Result does nothing. It goes to the store that was charged. In a
// shaping queue only the last turn can be given back.
func (l *Limiter) Refund(ctx context.Context, r *Result) error {
	return l.adjust(ctx, r, func(int) int64 { return 0 })
}

// Settle corrects what the decision charged to what it actually cost: less gives
// the difference back, more is charged as debt, past the limit if need be but at
// most to twice the capacity. Policies that were not charged are left alone. It
// acts once.
func (l *Limiter) Settle(ctx context.Context, r *Result, actual int64) error {
	return l.adjust(ctx, r, func(int) int64 { return actual })
}

// SettleEach is Settle with an actual cost for each policy, in order. A negative
// one leaves its policy as it was charged.
func (l *Limiter) SettleEach(ctx context.Context, r *Result, actual []int64) error {
	if len(actual) != r.Len() {
		return fmt.Errorf("ratelimit: %d actual costs for %d policies: give one for each, in order", len(actual), r.Len())
	}
	return l.adjust(ctx, r, func(i int) int64 {
		if actual[i] < 0 {
			return r.asks()[i].Charged
		}
		return actual[i]
	})
}

func (l *Limiter) adjust(ctx context.Context, r *Result, actual func(i int) int64) error {
	var changed []Ask
	var costs []int64
	for i, a := range r.asks() {
		cost := actual(i)
		if cost < 0 {
			return fmt.Errorf("%w %d", ErrNegativeCost, cost)
		}
		if a.Charged > 0 && cost != a.Charged {
			changed, costs = append(changed, a), append(costs, cost)
		}
	}
	if !atomic.CompareAndSwapUint32(&r.spent, 0, 1) || len(changed) == 0 {
		return nil
	}
	return r.store.Adjust(ctx, l.clock(), changed, costs)
}

// Reset forgets a key of the named policy and lifts its block. The name may be
// empty where there is one policy.
func (l *Limiter) Reset(ctx context.Context, policy, key string) error {
	b, err := l.named(policy)
	if err != nil {
		return err
	}
	return l.store.Reset(ctx, b.terms, key)
}

// Block refuses a key of the named policy for a time, whatever its state. A later
// block replaces it; 0 lifts it. The name may be empty where there is one policy.
func (l *Limiter) Block(ctx context.Context, policy, key string, length time.Duration) error {
	b, err := l.named(policy)
	if err != nil {
		return err
	}
	if length < 0 || length > maxPeriod {
		return invalid("block of %v: give 0 to 8784h", length)
	}
	return l.store.Block(ctx, l.clock(), b.terms, key, length)
}

func (l *Limiter) named(policy string) (*bound, error) {
	if policy == "" && len(l.policies) == 1 {
		return l.policies[0], nil
	}
	for _, b := range l.policies {
		if b.terms.Policy == policy {
			return b, nil
		}
	}
	return nil, fmt.Errorf("ratelimit: no policy named %s in this limiter", quoted(policy))
}
