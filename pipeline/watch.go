package pipeline

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// watched is a store that can be away: every call has a deadline of its own, and
// the log is told when the store goes away and when it is back. The deadline is
// not the request's, which bounds how long a leaky bucket may hold it.
type watched struct {
	core.Store
	timeout time.Duration
	logger  *slog.Logger
	away    atomic.Bool
}

// Take bounds the decision.
func (w *watched) Take(ctx context.Context, now time.Time, asks []core.Ask) error {
	bounded, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	err := w.Store.Take(bounded, now, asks)
	if err == nil || ctx.Err() == nil { // who left says nothing about the store
		w.note(ctx, err)
	}
	return err
}

// Adjust bounds a refund or a settlement.
func (w *watched) Adjust(ctx context.Context, now time.Time, asks []core.Ask, actual []int64) error {
	bounded, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	return w.Store.Adjust(bounded, now, asks, actual)
}

// note logs a change, and is one atomic load where there is none.
func (w *watched) note(ctx context.Context, err error) {
	away := err != nil
	if w.away.Load() == away || !w.away.CompareAndSwap(!away, away) {
		return
	}
	if away {
		w.logger.WarnContext(ctx, "ratelimit: the store is away; each policy's StoreAway decides", "error", err)
		return
	}
	w.logger.InfoContext(ctx, "ratelimit: the store is back")
}
