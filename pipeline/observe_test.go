package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	ratelimit "github.com/ratelimit-go/ratelimit/nethttp"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

// notes are what an observer is told, in order.
type notes struct {
	mu   sync.Mutex // guards told
	told []string
}

func (n *notes) Decided(route string, r *core.Result, outcome pipeline.Outcome, held time.Duration) {
	policies := ""
	for _, d := range r.Decisions() {
		policies += " " + d.Policy
	}
	n.note(fmt.Sprintf("%q%s %v, waited %v", route, policies, outcome, held > 0))
}

func (n *notes) StoreAnswered(took time.Duration, err error) {
	n.note(fmt.Sprintf("store %v %v", took >= 0, err))
}

func (n *notes) note(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.told = append(n.told, text)
}

// wants compares what was told since the last time.
func (n *notes) wants(t *testing.T, want ...string) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if !reflect.DeepEqual(n.told, want) {
		t.Errorf("told %q, want %q", n.told, want)
	}
	n.told = nil
}

// served serves a mux with one route behind a middleware.
func served(o ratelimit.Options, policies ...core.Policy) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /items/{id}", func(http.ResponseWriter, *http.Request) {})
	return ratelimit.With(o).New(policies...)(mux)
}

func get(h http.Handler, path string) (status int) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w.Code
}

func TestObservers(t *testing.T) {
	var first, second notes
	o := ratelimit.Options{
		Observers: []pipeline.Observer{&first, &second}, Deny: []string{"192.0.2.1"}, Logger: slog.New(slog.DiscardHandler),
		Skip: func(r *http.Request) bool { return r.URL.Path == "/skipped" },
	}
	denied := served(o, core.PerMinute(1))
	o.Deny = nil
	h := served(o, core.PerMinute(2).Named("a").Costing(func(r core.Request) (int64, error) {
		if r.Query("bad") != "" {
			return 0, errors.New("no cost")
		}
		return 1, nil
	}), core.PerMinute(9).Named("b"))

	get(denied, "/items/1")
	first.wants(t, `"GET /items/{id}" denied, waited false`)
	for _, c := range []struct {
		path string
		want []string
	}{
		{"/items/1", []string{`"GET /items/{id}" a b admitted, waited false`}},
		{"/items/1?bad=1", []string{`"GET /items/{id}" failed, waited false`}},
		{"/elsewhere", []string{`"" a b admitted, waited false`}},
		{"/items/2", []string{`"GET /items/{id}" a b refused, waited false`}},
		{"/skipped", nil},
	} {
		second.told = nil
		get(h, c.path)
		first.wants(t, c.want...)
		second.wants(t, c.want...)
	}
}

// TestObserversOfHeldRequests: a leaky bucket's turn is waited for.
func TestObserversOfHeldRequests(t *testing.T) {
	var told notes
	h := served(ratelimit.Options{Observers: []pipeline.Observer{&told}}, core.PerSecond(100).LeakyBucket(5).Named("p"))
	get(h, "/items/1")
	get(h, "/items/1")
	told.wants(t, `"GET /items/{id}" p admitted, waited false`, `"GET /items/{id}" p admitted, waited true`)
}

// broken is a store that answers with an error.
type broken struct{ core.Store }

func (broken) Take(context.Context, time.Time, []core.Ask) error { return io.ErrUnexpectedEOF }

func TestObserversOfStores(t *testing.T) {
	var told notes
	o := ratelimit.Options{Observers: []pipeline.Observer{&told}, Logger: slog.New(slog.DiscardHandler), Store: &broken{core.NewMemory()}}
	get(served(o, core.PerMinute(1).Named("p").WhenStoreAway(core.Closed)), "/items/1")
	told.wants(t, "store true unexpected EOF", `"GET /items/{id}" p failed, waited false`)

	o.Store = &struct{ core.Store }{core.NewMemory()} // not seen to be in memory
	get(served(o, core.PerMinute(1).Named("p")), "/items/1")
	told.wants(t, "store true <nil>", `"GET /items/{id}" p admitted, waited false`)

	o.Store = core.NewMemory()
	get(served(o, core.PerMinute(1).Named("p")), "/items/1")
	told.wants(t, `"GET /items/{id}" p admitted, waited false`)
}

// TestAlone: nothing is put into the requests' contexts, and all else is the same.
func TestAlone(t *testing.T) {
	for _, alone := range []bool{false, true} {
		seen, same := 0, false
		var outside *http.Request
		h := ratelimit.With(ratelimit.Options{Alone: alone}).New(core.PerMinute(1))(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			seen, same = len(ratelimit.Results(r)), r == outside
		}))
		for i, want := range []int{200, 429} {
			w := httptest.NewRecorder()
			outside = httptest.NewRequest("GET", "/", nil)
			h.ServeHTTP(w, outside)
			if w.Code != want || w.Header().Get("RateLimit-Remaining") != "0" || w.Header().Get("RateLimit-Policy") != `"1/minute";q=1;w=60` {
				t.Errorf("alone %v, request %d: status %d, %v", alone, i+1, w.Code, w.Header())
			}
		}
		if same != alone || seen == 1 == alone {
			t.Errorf("alone %v: %d results, the same request %v", alone, seen, same)
		}
	}
}

// TestKeptResults: what a handler keeps stays as it was, though the middleware's own
// memory serves again.
func TestKeptResults(t *testing.T) {
	var kept []*core.Result
	var fields []http.Header
	h := ratelimit.New(core.PerMinute(100))(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kept, fields = append(kept, ratelimit.Results(r)...), append(fields, w.Header())
	}))
	const requests = 50
	for range requests {
		get(h, "/")
	}
	for i := range requests {
		want := int64(99 - i)
		if got := kept[i].Decision(0).Remaining; got != want || fields[i].Get("RateLimit-Remaining") != fmt.Sprint(want) {
			t.Errorf("request %d: %d remain, and by the fields %s; want %d", i+1, got, fields[i].Get("RateLimit-Remaining"), want)
		}
	}
}
