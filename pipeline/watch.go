package pipeline

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// watched is a store that can be away: the log is told when it goes away and when
// it is back, and the observers of every answer.
type watched struct {
	core.Store
	logger    *slog.Logger
	observers []Observer
	away      atomic.Bool
}

// Take notes how the store answers.
func (w *watched) Take(ctx context.Context, now time.Time, asks []core.Ask) error {
	began := w.start()
	err := w.Store.Take(ctx, now, asks)
	if err == nil || ctx.Err() == nil { // who left says nothing about the store
		w.tell(began, err)
		w.note(ctx, err)
	}
	return err
}

// start reads the clock where somebody wants to know.
func (w *watched) start() time.Time {
	if len(w.observers) == 0 {
		return time.Time{}
	}
	return time.Now()
}

func (w *watched) tell(began time.Time, err error) {
	if len(w.observers) == 0 {
		return
	}
	took := time.Since(began)
	for _, o := range w.observers {
		o.StoreAnswered(took, err)
	}
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
