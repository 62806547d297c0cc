package eventlog_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/metrics/eventlog"
	"github.com/ratelimit-go/ratelimit/metrics/tally"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

// logged is what is written of requests that a policy decides, one of each key.
func logged(t *testing.T, level slog.Level, o eventlog.Options, policy core.Policy, keys ...string) string {
	t.Helper()
	var log bytes.Buffer
	o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: level}))
	l := eventlog.New(o)
	limiter, err := core.NewLimiter(nil, policy)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		r, err := limiter.Take(context.Background(), key)
		if err != nil {
			t.Fatal(err)
		}
		l.Decided("GET /a", &r, pipeline.Refused, 0)
		l.StoreAnswered(time.Second, nil)
	}
	return log.String()
}

func TestLines(t *testing.T) {
	hash := tally.KeyHash("ann's token")
	for _, c := range []struct {
		name   string
		level  slog.Level
		show   bool
		policy core.Policy
		want   []string
		not    string
	}{
		{"refused", slog.LevelDebug, false, core.PerHour(1).FixedWindow().Named("p"), []string{"level=DEBUG", "policy=p", `route="GET /a"`, "client=" + hash, "retry_after="}, "ann"},
		{"the key on request", slog.LevelDebug, true, core.PerHour(1).Named("p"), []string{`client="ann's token"`}, hash},
		{"a dry run", slog.LevelDebug, false, core.PerHour(1).Named("p").AsDryRun(), []string{"dry_run=true"}, "never"},
		{"never", slog.LevelDebug, false, core.PerLimit(core.Blocked()).Named("p"), []string{"never=true"}, "dry_run"},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := logged(t, c.level, eventlog.Options{ShowKeys: c.show}, c.policy, "ann's token", "ann's token")
			for _, want := range c.want {
				if !strings.Contains(log, want) {
					t.Errorf("no %s in %s", want, log)
				}
			}
			if strings.Contains(log, c.not) {
				t.Errorf("%s in %s", c.not, log)
			}
		})
	}
	if log := logged(t, slog.LevelInfo, eventlog.Options{}, core.PerLimit(core.Blocked()), "k"); log != "" {
		t.Errorf("at info: %s", log)
	}
	if log := logged(t, slog.LevelDebug, eventlog.Options{}, core.PerHour(1), "k"); log != "" {
		t.Errorf("of an admitted request: %s", log)
	}
	if log := logged(t, slog.LevelDebug, eventlog.Options{ShowKeys: true}, core.PerLimit(core.Blocked()), strings.Repeat("k", 1<<20)); len(log) > 1000 {
		t.Errorf("a huge key makes a line of %d bytes", len(log))
	}
}

func TestNoFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		l := eventlog.New(eventlog.Options{PerSecond: 3, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		limiter, _ := core.NewLimiter(nil, core.PerLimit(core.Blocked()).Named("p"))
		r, _ := limiter.Take(context.Background(), "k")
		for range 3 {
			for range 1000 {
				l.Decided("GET /a", &r, pipeline.Refused, 0)
			}
			time.Sleep(time.Second)
		}
		if n := strings.Count(log.String(), "\n"); n != 9 {
			t.Errorf("%d lines in three seconds, want 9", n)
		}
		if n := strings.Count(log.String(), "left_out=997"); n != 2 {
			t.Errorf("%d lines say what was left out, want 2: %s", n, log.String())
		}
	})
}

func TestMisusePanicsWithTheMend(t *testing.T) {
	defer func() {
		if text := fmt.Sprint(recover()); !strings.Contains(text, "give 1 or more") {
			t.Errorf("panics with %s", text)
		}
	}()
	eventlog.New(eventlog.Options{PerSecond: -1})
}

func ExampleNew() {
	var log bytes.Buffer
	events := eventlog.New(eventlog.Options{ShowKeys: true, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "retry_after" {
				return slog.Attr{}
			}
			return a
		},
	}))})
	limiter, _ := core.NewLimiter(nil, core.PerHour(1).Named("search"))
	for range 2 {
		r, _ := limiter.Take(context.Background(), "192.0.2.1")
		events.Decided("GET /search", &r, pipeline.Refused, 0)
	}
	fmt.Print(log.String())
	// Output: level=DEBUG msg="ratelimit: refused" policy=search route="GET /search" client=192.0.2.1
}
