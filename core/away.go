package core

import (
	"context"
	"fmt"
	"time"
)

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
	r.StoreAway, r.store = true, nil // nothing was charged there, as far as is known
	if len(local) > 0 {
		memory, err := l.takeLocal(ctx, now, local)
		if err != nil {
			return err
		}
		r.store = memory
	}
	for i, j := 0, 0; i < len(asks); i++ {
		if l.policies[i].StoreAway == Local && !asks[i].Terms.Limit.IsUnlimited() {
			waitForShare(&local[j], asks[i].Terms)
			asks[i] = local[j]
			j++
		}
	}
	return nil
}

// takeLocal decides in this instance's memory, each limit at this instance's
// share. It starts empty and is not copied back.
func (l *Limiter) takeLocal(ctx context.Context, now time.Time, asks []Ask) (*Memory, error) {
	l.localOnce.Do(func() { l.local = NewMemory() })
	for i := range asks {
		whole := asks[i].Terms
		share, err := l.policyOf(whole).ready(whole.Limit)
		if err != nil {
			return nil, err
		}
		asks[i].Terms = share[1]
	}
	return l.local, l.local.Take(ctx, now, asks)
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
