package core

import (
	"context"
	"fmt"
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
