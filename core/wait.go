package core

import (
	"context"
	"fmt"
	"time"
)

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
