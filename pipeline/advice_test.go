package pipeline_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
	ratelimit "github.com/ratelimit-go/ratelimit/nethttp"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

// listener is an observer that hears everything.
type listener struct {
	mu     sync.Mutex // guards both
	advice []pipeline.Advice
	mounts []pipeline.Mount
}

func (l *listener) Decided(string, *core.Result, pipeline.Outcome, time.Duration) {}
func (l *listener) StoreAnswered(time.Duration, error)                            {}

func (l *listener) Advised(a pipeline.Advice) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.advice = append(l.advice, a)
}

func (l *listener) Mounted(m pipeline.Mount) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mounts = append(l.mounts, m)
}

// evicting is a store on a server that may evict.
type evicting struct {
	core.Store
	evicts bool
	err    error
}

func (e *evicting) Evicts(context.Context) (bool, error) { return e.evicts, e.err }

func ok(http.ResponseWriter, *http.Request) {}

// serve sends requests with some fields from a peer through the middleware.
func serve(limit func(http.Handler) http.Handler, peer string, fields ...string) {
	handler := limit(http.HandlerFunc(ok))
	for range 3 {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = peer
		for i := 0; i < len(fields); i += 2 {
			r.Header.Set(fields[i], fields[i+1])
		}
		handler.ServeHTTP(httptest.NewRecorder(), r)
	}
}

func TestMisuseIsPointedOutOnce(t *testing.T) {
	behindProxy := ratelimit.Options{ClientIP: keyfuncs.NewClient(keyfuncs.TrustProxies("10.0.0.0/8"))}
	memory := core.NewMemory()
	defer memory.Close()
	for _, c := range []struct {
		name    string
		options ratelimit.Options
		use     func(*ratelimit.Limits)
		want    []pipeline.Advice
	}{
		{"nothing odd", ratelimit.Options{}, func(l *ratelimit.Limits) { serve(l.New(core.PerMinute(1)), "10.0.0.1:1") }, nil},
		{"a proxy that nobody named", ratelimit.Options{}, func(l *ratelimit.Limits) {
			serve(l.New(core.PerMinute(100)), "10.0.0.1:1", "X-Forwarded-For", "192.0.2.1")
		}, []pipeline.Advice{pipeline.ForwardedUnread}},
		{"a proxy on this host", ratelimit.Options{}, func(l *ratelimit.Limits) {
			serve(l.New(core.PerMinute(100)), "[::1]:1", "Forwarded", "for=192.0.2.1")
		}, []pipeline.Advice{pipeline.ForwardedUnread}},
		{"a proxy that was named", behindProxy, func(l *ratelimit.Limits) {
			serve(l.New(core.PerMinute(100)), "10.0.0.1:1", "X-Forwarded-For", "192.0.2.1")
		}, nil},
		{"a client that invents the header", ratelimit.Options{}, func(l *ratelimit.Limits) {
			serve(l.New(core.PerMinute(100)), "192.0.2.9:1", "X-Forwarded-For", "192.0.2.1")
		}, nil},
		{"a key that is not the peer", ratelimit.Options{}, func(l *ratelimit.Limits) {
			serve(l.New(core.PerMinute(100).By(keyfuncs.All())), "10.0.0.1:1", "X-Forwarded-For", "192.0.2.1")
		}, nil},
		{"everybody is a proxy", ratelimit.Options{ClientIP: keyfuncs.NewClient(keyfuncs.TrustProxies("0.0.0.0/1", "128.0.0.0/1"))},
			func(l *ratelimit.Limits) { l.New(core.PerMinute(100)) }, []pipeline.Advice{pipeline.ForwardedFromAll}},
		{"everybody is a proxy, IPv6", ratelimit.Options{ClientIP: keyfuncs.NewClient(keyfuncs.TrustProxies("::/1"), keyfuncs.ForwardedHeader())},
			func(l *ratelimit.Limits) { l.New(core.PerMinute(100)) }, []pipeline.Advice{pipeline.ForwardedFromAll}},
		{"the same middleware twice", ratelimit.Options{}, func(l *ratelimit.Limits) {
			limit := l.New(core.PerMinute(100))
			serve(func(h http.Handler) http.Handler { return limit(limit(h)) }, "192.0.2.1:1")
		}, []pipeline.Advice{pipeline.MountedTwice}},
		{"a policy shared by two middlewares", ratelimit.Options{}, func(l *ratelimit.Limits) {
			outer, inner := l.New(core.PerMinute(100).Named("a")), l.New(core.PerMinute(100).Named("a"), core.PerMinute(9).Named("b"))
			serve(func(h http.Handler) http.Handler { return outer(inner(h)) }, "192.0.2.1:1")
		}, nil},
		{"a policy left out for want of a key", ratelimit.Options{}, func(l *ratelimit.Limits) {
			serve(l.New(core.PerMinute(100).By(keyfuncs.Header("X-API-Key")).WithoutKey(core.SkipNoKey)), "192.0.2.1:1")
		}, nil},
		{"a cost that never passes", ratelimit.Options{}, func(l *ratelimit.Limits) {
			serve(l.New(core.PerMinute(100).Costing(func(core.Request) (int64, error) { return 101, nil })), "192.0.2.1:1")
		}, []pipeline.Advice{pipeline.CostAboveLimit}},
		{"a limit that is shut", ratelimit.Options{}, func(l *ratelimit.Limits) { serve(l.New(core.PerLimit(core.Blocked())), "192.0.2.1:1") }, nil},
		{"a server that evicts", ratelimit.Options{Store: &evicting{Store: memory, evicts: true}},
			func(l *ratelimit.Limits) {
				l.New(core.PerMinute(100).Named("a"))
				l.New(core.PerMinute(100).Named("b"))
			}, []pipeline.Advice{pipeline.StoreEvicts}},
		{"a server that does not", ratelimit.Options{Store: &evicting{Store: memory}}, func(l *ratelimit.Limits) { l.New(core.PerMinute(100).Named("a")) }, nil},
		{"a server that does not say", ratelimit.Options{Store: &evicting{Store: memory, evicts: true, err: context.Canceled}},
			func(l *ratelimit.Limits) { l.New(core.PerMinute(100).Named("a")) }, nil},
		{"a short window", ratelimit.Options{}, func(l *ratelimit.Limits) {
			l.New(core.Per(5, 100*time.Millisecond))
			l.New(core.Per(6, 100*time.Millisecond))
		},
			[]pipeline.Advice{pipeline.WindowBelowSecond}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // whose end is that of the question to the store, too
				var log bytes.Buffer
				heard := new(listener)
				c.options.Observers = []pipeline.Observer{heard}
				c.options.Logger = slog.New(slog.NewTextHandler(&log, nil))
				c.use(ratelimit.With(c.options))
				synctest.Wait()
				time.Sleep(time.Hour) // the stores in memory forget their keys and stop their timers
				synctest.Wait()
				if !slices.Equal(heard.advice, c.want) {
					t.Errorf("heard %v, want %v", heard.advice, c.want)
				}
				for _, advice := range c.want {
					if strings.Count(log.String(), fmt.Sprintf("advice=%s ", advice)) != 1 || !strings.Contains(log.String(), "see=docs/advice.md#"+string(advice)) {
						t.Errorf("the log says %s", log.String())
					}
				}
				if c.want == nil && log.Len() > 0 {
					t.Errorf("the log says %s", log.String())
				}
			})
		})
	}
}

func TestAStoreInMemoryInPrefork(t *testing.T) {
	t.Setenv("FIBER_PREFORK_CHILD", "1")
	heard := new(listener)
	logger := slog.New(slog.DiscardHandler)
	ratelimit.With(ratelimit.Options{Logger: logger, Observers: []pipeline.Observer{heard}, Store: &evicting{}}).New(core.PerMinute(100).Named("a"))
	if len(heard.advice) > 0 {
		t.Errorf("of a store outside: %v", heard.advice)
	}
	ratelimit.With(ratelimit.Options{Logger: logger, Observers: []pipeline.Observer{heard}}).New(core.PerMinute(100))
	if !slices.Equal(heard.advice, []pipeline.Advice{pipeline.MemoryInPrefork}) {
		t.Errorf("of one in memory: %v", heard.advice)
	}
}

// TestAdviceIsWrittenDown: each code has a section of its name, in order, and a
// sentence of its own.
func TestAdviceIsWrittenDown(t *testing.T) {
	text, err := os.ReadFile("../docs/advice.md")
	if err != nil {
		t.Fatal(err)
	}
	var sections []pipeline.Advice
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			sections = append(sections, pipeline.Advice(strings.TrimSpace(name)))
		}
	}
	if !slices.Equal(sections, pipeline.AllAdvice()) {
		t.Errorf("sections %v, want %v", sections, pipeline.AllAdvice())
	}
	said := make(map[string]bool)
	for _, advice := range pipeline.AllAdvice() {
		said[advice.Text()] = true
	}
	if len(said) != len(sections) || said[pipeline.Advice("x").Text()] {
		t.Errorf("not each has a sentence of its own: %v", said)
	}
}

// TestObserversAreToldWhatAMiddlewareStandsOn: the store that was given, not what
// wraps it, and the policies with their names.
func TestObserversAreToldWhatAMiddlewareStandsOn(t *testing.T) {
	heard, outside := new(listener), &evicting{}
	ratelimit.With(ratelimit.Options{Store: outside, Observers: []pipeline.Observer{heard}}).New(core.PerMinute(5).Named("a"), core.PerMinute(9).Named("b"))
	ratelimit.With(ratelimit.Options{Observers: []pipeline.Observer{heard}}).New(core.PerMinute(5))
	if len(heard.mounts) != 2 || heard.mounts[0].Store != outside || heard.mounts[0].Limiter == nil ||
		len(heard.mounts[0].Policies) != 2 || heard.mounts[1].Policies[0].Name != "5/minute" {
		t.Fatalf("heard of %+v", heard.mounts)
	}
	if _, ok := heard.mounts[1].Store.(*core.Memory); !ok {
		t.Errorf("the store in memory is %T", heard.mounts[1].Store)
	}
}
