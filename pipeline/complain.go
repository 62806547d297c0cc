package pipeline

import (
	"context"
	"sync/atomic"
	"time"
)

// complaints are errors that nobody takes: clients can cause them, so that they are
// logged once a second at most.
type complaints struct {
	second atomic.Int64 // of the last line, since the Unix epoch
	unsaid atomic.Int64 // since then
}

func (g *gate) complain(ctx context.Context, e *Error) {
	now := time.Now().Unix()
	if last := g.complaints.second.Load(); last == now || !g.complaints.second.CompareAndSwap(last, now) {
		g.complaints.unsaid.Add(1)
		return
	}
	g.logger.ErrorContext(ctx, "ratelimit: a request could not be decided", "error", e, "others", g.complaints.unsaid.Swap(0))
}
