package adaptertest

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

var stores = []testCase{
	{name: "a store that is away", run: away, once: true},
	{name: "a store that is away is logged once", run: awayLogged, once: true},
	{name: "a store whose own deadline passes", run: slow, once: true},
	{name: "a client that leaves is no fault of the store", run: gone, writer: true, once: true},
	{name: "Redis that stalls", run: stalls, redis: true},
	{name: "Redis that dies and comes back", run: dies, redis: true},
	{name: "secrets are not to be read in Redis", run: secrets, redis: true},
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

// awayLogged: a store that goes away is said to be, once, and back once it has
// answered for a second, on the clock of the log.
func awayLogged(t *testing.T, d Driver) {
	var log logged
	store := newFickle(nil)
	o := fixed()
	o.Store, o.Logger = store, slog.New(slog.NewTextHandler(&log, nil))
	url := d.Serve(t, app(o, core.PerMinute(100_000).Named("p")))
	lines := func(text string) int { return strings.Count(log.String(), text) }
	for range 3 { // it comes and goes
		store.set(nil)
		get(t, url, 200, 200)
		store.set(down)
		get(t, url, 200, 200)
	}
	if lines("store is away") != 1 || lines("store is back") != 0 {
		t.Errorf("logged: %s", log.String())
	}
	store.set(nil)
	for deadline := time.Now().Add(10 * time.Second); lines("store is back") == 0; time.Sleep(50 * time.Millisecond) {
		get(t, url, 200)
		if time.Now().After(deadline) {
			t.Fatal("it is never said to be back")
		}
	}
	store.set(down)
	get(t, url, 200, 200)
	if lines("store is away") != 2 || lines("store is back") != 1 {
		t.Errorf("logged: %s", log.String())
	}
}

func slow(t *testing.T, d Driver) {
	const deadline = 50 * time.Millisecond
	o := fixed()
	o.Store = newFickle(func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, deadline)
		defer cancel()
		<-ctx.Done()
		return ctx.Err()
	})
	url := d.Serve(t, app(o, core.PerMinute(100).Named("a"), core.PerMinute(1).Named("b")))
	if waited := took(t, url, 200); waited < deadline || waited > 2*time.Second {
		t.Errorf("decided after %v, want one deadline of %v for both policies", waited, deadline)
	}
	get(t, url, 429) // locally
}

func gone(t *testing.T, d Driver) {
	var log logged
	errs := make(chan error, 1)
	entered := make(chan struct{}, 1)
	o := fixed()
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
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

// ownRedis serves an app on a server that the test may maltreat.
func ownRedis(t *testing.T, d Driver, log io.Writer, policies ...core.Policy) (url string, server *redistest.Server) {
	server = redistest.Start(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), ContextTimeoutEnabled: true, MaxRetries: -1, DialerRetries: 1})
	t.Cleanup(func() { _ = client.Close() })
	o := &Options{Store: redisstore.New(client), Logger: slog.New(slog.NewTextHandler(log, nil))}
	return d.Serve(t, app(o, policies...)), server
}

// stalls: nobody waits longer than the store's deadline.
func stalls(t *testing.T, d Driver) {
	var log logged
	url, server := ownRedis(t, d, &log, core.PerHour(3).Named("local"), core.PerHour(100).Named("open").WhenStoreAway(core.Open))
	get(t, url, 200)
	client := server.Client()
	defer client.Close()
	if err := client.Do(t.Context(), "CLIENT", "PAUSE", "60000").Err(); err != nil {
		t.Fatal(err)
	}
	if waited := took(t, url, 200); waited > 5*time.Second {
		t.Errorf("decided after %v, want the store's 100ms", waited)
	}
	get(t, url, 200, 200, 429) // locally, from nothing
	if text := log.String(); strings.Count(text, "store is away") != 1 {
		t.Errorf("logged: %s", text)
	}
}

// dies: what was counted is lost with the server, and counting goes on.
func dies(t *testing.T, d Driver) {
	var log logged
	url, server := ownRedis(t, d, &log, core.PerHour(3).SlidingWindowLog().Named("local").By(keyfuncs.Query("k")))
	get(t, url+"/?k=a", 200, 200)
	server.Kill()
	get(t, url+"/?k=a", 200, 200, 200, 429) // locally, from nothing
	server.Restart()
	for deadline := time.Now().Add(patience); !strings.Contains(log.String(), "store is back"); time.Sleep(10 * time.Millisecond) {
		send(t, "GET", url+"/?k=b")
		if time.Now().After(deadline) {
			t.Fatalf("logged: %s", log.String())
		}
	}
	get(t, url+"/?k=a", 200, 200, 200, 429) // what was counted locally is not copied back
}

func secrets(t *testing.T, d Driver) {
	var log logged
	url, server := ownRedis(t, d, &log,
		core.PerMinute(5).Named("header").By(keyfuncs.Header("X-API-Key")),
		core.PerMinute(5).SlidingWindowLog().Named("cookie").By(keyfuncs.Cookie("sid")),
		core.PerMinute(5).TokenBucket(5).Named("bearer").By(keyfuncs.First(keyfuncs.BearerToken(), keyfuncs.IP())),
		core.PerMinute(5).FixedWindow().Named("joined").By(keyfuncs.IP(), keyfuncs.Header("X-API-Key")))
	wantStatus(t, send(t, "GET", url, "X-API-Key", "s3cret", "Cookie", "sid=s3cret", "Authorization", "Bearer s3cret"), 200)
	client := server.Client()
	defer client.Close()
	names, err := client.Keys(t.Context(), "*").Result()
	if err != nil || len(names) != 4 {
		t.Fatalf("keys %q, %v, want 4", names, err)
	}
	for _, name := range names {
		if dump, err := client.Dump(t.Context(), name).Result(); err != nil || strings.Contains(name+dump, "s3cret") {
			t.Errorf("key %q holds %q, %v", name, dump, err)
		}
	}
}
