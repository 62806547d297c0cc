package pipeline

import (
	"context"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// take decides, and where all that refuse would rather hold, waits and asks again.
// Nothing is reserved meanwhile.
func (g *gate) take(ctx context.Context, v *Visit, units []core.Units) error {
	r := &v.trail.result
	err := g.limiter.DecideTo(ctx, r, units)
	if !g.holds {
		return err
	}
	for held := time.Duration(0); err == nil && !r.Allowed; {
		wait := max(r.RetryAfter, time.Millisecond)
		if held += wait; !g.mayHold(ctx, r, wait, held) {
			break
		}
		if !v.sleep(ctx, wait) {
			return context.Cause(ctx)
		}
		*r = core.Result{}
		err = g.limiter.DecideTo(ctx, r, units)
	}
	return err
}

// mayHold reports whether every policy that refuses holds for as long, and the
// request's deadline leaves the time.
func (g *gate) mayHold(ctx context.Context, r *core.Result, wait, held time.Duration) bool {
	if r.Never {
		return false
	}
	if deadline, ok := ctx.Deadline(); ok && wait > time.Until(deadline) {
		return false
	}
	for i := range g.policies {
		a, p := r.Ask(i), &g.policies[i]
		if a.Allowed || a.Terms.DryRun || a.Unasked {
			continue
		}
		if p.OnExcess != core.Hold || p.LongestWait > 0 && held > p.LongestWait {
			return false
		}
	}
	return true
}

// giveBack refunds for a client that has left: its context is over, the refund's
// is not.
func (g *gate) giveBack(ctx context.Context, r *core.Result) {
	ctx = context.WithoutCancel(ctx)
	if err := g.limiter.Refund(ctx, r); err != nil {
		g.logger.WarnContext(ctx, "ratelimit: a turn could not be given back", "error", err)
	}
}

// sleep waits, and reports false when ctx ends first.
func (v *Visit) sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	began := time.Now()
	defer func() { v.held += time.Since(began) }()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
