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
	fault     atomic.Int64 // when the last one was, in nanoseconds since the Unix epoch
}

// quiet is how long a store answers before it is said to be back, so that one that
// fails now and then does not fill the log.
const quiet = time.Second

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

// note logs a change, and is one atomic load while all is well.
func (w *watched) note(ctx context.Context, err error) {
	if err != nil {
		w.fault.Store(time.Now().UnixNano())
		if w.away.CompareAndSwap(false, true) {
			w.logger.WarnContext(ctx, "ratelimit: the store is away; each policy's StoreAway decides", "error", err)
		}
		return
	}
	if w.away.Load() && time.Now().UnixNano()-w.fault.Load() >= int64(quiet) && w.away.CompareAndSwap(true, false) {
		w.logger.InfoContext(ctx, "ratelimit: the store is back")
	}
}
