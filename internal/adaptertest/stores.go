package adaptertest

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

var stores = []testCase{
	{name: "a store that is away", run: away},
	{name: "a store that is away is logged once", run: awayLogged},
	{name: "a store that is slow", run: slow},
	{name: "a client that leaves is no fault of the store", run: gone, writer: true},
	{name: "many policies", run: manyPolicies},
}

// fickle is a store whose answers a test chooses.
type fickle struct {
	core.Store
	take atomic.Pointer[func(context.Context) error]
}

func newFickle(take func(context.Context) error) *fickle {
	f := &fickle{Store: core.NewMemory()}
	f.set(take)
	return f
}

func (f *fickle) set(take func(context.Context) error) { f.take.Store(&take) }

func (f *fickle) Take(ctx context.Context, now time.Time, asks []core.Ask) error {
	if take := *f.take.Load(); take != nil {
		return take(ctx)
	}
	return f.Store.Take(ctx, now, asks)
}

func down(context.Context) error { return errors.New("secret address refused") }

func away(t *testing.T, d Driver) {
	for _, c := range []struct {
		outcome core.StoreAway
		want    []int
	}{
		{core.Local, []int{200, 200, 429}},
		{core.Open, []int{200, 200, 200}},
		{core.Closed, []int{503, 503, 503}},
	} {
		o := fixed()
		o.Store = newFickle(down)
		a := app(o, core.PerMinute(2).Named("p").WhenStoreAway(c.outcome))
		a.Routes[0].Handler = func(c Call) {
			if !c.Results()[0].StoreAway {
				t.Error("the result does not say that the store is away")
			}
			ok(c)
		}
		got := get(t, d.Serve(t, a), c.want...)
		if c.outcome != core.Closed {
			continue
		}
		got.wantField(t, "Retry-After", "1")
		got.wantField(t, "Cache-Control", "no-store")
		if strings.Contains(got.body, "secret") || !strings.Contains(got.body, "temporary-reduced-capacity") {
			t.Errorf("body %s", got.body)
		}
	}
}

func awayLogged(t *testing.T, d Driver) {
	var log logged
	store := newFickle(nil)
	o := fixed()
	o.Store, o.Logger = store, slog.New(slog.NewTextHandler(&log, nil))
	url := d.Serve(t, app(o, core.PerMinute(100).Named("p")))
	for _, c := range []struct {
		take        func(context.Context) error
		lost, found int // lines so far
	}{{nil, 0, 0}, {down, 1, 0}, {nil, 1, 1}, {down, 2, 1}} {
		store.set(c.take)
		get(t, url, 200, 200, 200)
		text := log.String()
		if lost, found := strings.Count(text, "store is away"), strings.Count(text, "store is back"); lost != c.lost || found != c.found {
			t.Errorf("%d away and %d back logged, want %d and %d", lost, found, c.lost, c.found)
		}
	}
}

func slow(t *testing.T, d Driver) {
	o := fixed()
	o.Timeout = 50 * time.Millisecond
	o.Store = newFickle(func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	})
	url := d.Serve(t, app(o, core.PerMinute(100).Named("a"), core.PerMinute(1).Named("b")))
	if waited := took(t, url, 200); waited < 45*time.Millisecond || waited > 2*time.Second {
		t.Errorf("decided after %v, want one deadline of 50ms", waited)
	}
	get(t, url, 429) // locally
}

func gone(t *testing.T, d Driver) {
	var log logged
	errs := make(chan error, 1)
	entered := make(chan struct{}, 1)
	o := fixed()
	o.Timeout, o.Logger = time.Minute, slog.New(slog.NewTextHandler(&log, nil))
	o.Store = newFickle(func(ctx context.Context) error {
		entered <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	o.OnError = func(_ Call, err error) { errs <- err }
	a := app(o, core.PerMinute(1).Named("p"))
	a.Routes[0].Handler = func(Call) { t.Error("the handler runs for a client that has left") }
	url := d.Serve(t, a)
	leave(t, url, entered)
	select {
	case err := <-errs:
		if !errors.Is(err, pipeline.ErrGone) || !errors.Is(err, context.Canceled) {
			t.Errorf("OnError got %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the server has not noticed")
	}
	if text := log.String(); text != "" {
		t.Errorf("logged: %s", text)
	}
}

func manyPolicies(t *testing.T, d Driver) {
	var policies Policies
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		policies = append(policies, core.PerMinute(2).Named(name))
	}
	url := d.Serve(t, app(fixed(), policies...))
	get(t, url, 200, 200, 429)
}
