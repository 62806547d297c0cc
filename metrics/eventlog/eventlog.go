// Package eventlog writes what rate limiters refuse to a log, at debug.
//
//	limits := ratelimit.With(ratelimit.Options{
//		Observers: []pipeline.Observer{eventlog.New(eventlog.Options{})},
//	})
//
// A line names the policy, the route, the client by the hash of its key, and the
// wait; a dry run's and a degrading policy's refusals say that they are. Under attack
// no more than a few lines a second are written, and the next second's first says how
// many were left out. While the logger does not take debug, nothing but that is
// looked at.
//
// That a store goes away and comes back, and misuse, is logged once by the limiters
// themselves, to Options.Logger.
package eventlog

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/metrics/tally"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

// Options are choices for [New]. The zero Options is the default.
type Options struct {
	// Logger takes the lines. Nil: [slog.Default].
	Logger *slog.Logger
	// PerSecond is the most lines in a second. Zero: 10.
	PerSecond int
	// ShowKeys writes the keys themselves, each cut after 256 bytes. They may be
	// secrets or personal.
	ShowKeys bool
}

// Log is a [pipeline.Observer]. It is made by [New] and safe for concurrent use.
type Log struct {
	options Options

	mu      sync.Mutex // guards what follows
	second  int64      // of the Unix epoch
	written int        // in it
	leftOut int        // since the last line
}

// New makes a Log. It panics on a PerSecond below 0.
func New(o Options) *Log {
	if o.PerSecond < 0 {
		panic(fmt.Sprintf("ratelimit: eventlog.Options.PerSecond %d: give 1 or more, or leave it out for 10", o.PerSecond))
	}
	if o.PerSecond == 0 {
		o.PerSecond = 10
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return &Log{options: o}
}

// Decided implements [pipeline.Observer].
func (l *Log) Decided(route string, r *core.Result, _ pipeline.Outcome, _ time.Duration) {
	if !l.options.Logger.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	for i := range r.Len() {
		d := r.Decision(i)
		if d.Allowed || d.Unasked {
			continue
		}
		if leftOut, may := l.mayWrite(time.Now().Unix()); may {
			l.write(route, &d, r.Ask(i).Key, leftOut)
		}
	}
}

// StoreAnswered implements [pipeline.Observer]. It does nothing.
func (l *Log) StoreAnswered(time.Duration, error) {}

// mayWrite reports whether a line may be written in this second, and how many were
// not since the last.
func (l *Log) mayWrite(second int64) (leftOut int, may bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if second != l.second {
		l.second, l.written = second, 0
	}
	if l.written >= l.options.PerSecond {
		l.leftOut++
		return 0, false
	}
	l.written++
	leftOut, l.leftOut = l.leftOut, 0
	return leftOut, true
}

func (l *Log) write(route string, d *core.Decision, key string, leftOut int) {
	client := tally.KeyHash(key)
	if l.options.ShowKeys {
		client = key[:min(len(key), 256)]
	}
	line := []slog.Attr{
		slog.String("policy", d.Policy), slog.String("route", route), slog.String("client", client),
		slog.Duration("retry_after", d.RetryAfter),
	}
	if d.Never {
		line = append(line, slog.Bool("never", true))
	}
	if d.DryRun {
		line = append(line, slog.Bool("dry_run", true))
	}
	if leftOut > 0 {
		line = append(line, slog.Int("left_out", leftOut))
	}
	l.options.Logger.LogAttrs(context.Background(), slog.LevelDebug, "ratelimit: refused", line...)
}
