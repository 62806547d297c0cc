package core

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

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

// Reset forgets a key of the named policy and lifts its block, under all limits that
// this limiter has decided by (see [Policy.LimitBy]). The name may be
// empty where there is one policy.
func (l *Limiter) Reset(ctx context.Context, policy, key string) error {
	b, err := l.named(policy)
	if err != nil {
		return err
	}
	return b.eachState(func(t *Terms) error { return l.store.Reset(ctx, t, key) })
}

// Block refuses a key of the named policy for a time, whatever its state, under all
// limits that this limiter has decided by. A later
// block replaces it; 0 lifts it. The name may be empty where there is one policy.
func (l *Limiter) Block(ctx context.Context, policy, key string, length time.Duration) error {
	b, err := l.named(policy)
	if err != nil {
		return err
	}
	if length < 0 || length > maxPeriod {
		return invalid("block of %v: give 0 to 8784h", length)
	}
	now := l.clock()
	return b.eachState(func(t *Terms) error { return l.store.Block(ctx, now, t, key, length) })
}

// eachState does something to every state that a key can have: one for each period
// among the limits of requests so far, since another period starts anew.
func (b *bound) eachState(do func(*Terms) error) error {
	errs := []error{do(b.terms)}
	done := map[string]bool{b.terms.ID: true}
	b.others.Range(func(_, ready any) bool {
		if t := ready.([2]*Terms)[0]; t.Capacity > 0 && !done[t.ID] {
			done[t.ID] = true
			errs = append(errs, do(t))
		}
		return true
	})
	return errors.Join(errs...)
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
