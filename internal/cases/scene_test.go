package cases_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/policies"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

// patience is a timeout for tests of what is decided, not of when.
const patience = 10 * time.Second

var ctx = context.Background()

// server is shared by the tests that do it no harm; each has a prefix of its own.
var server *redistest.Server

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	logging.Disable() // servers are away here on purpose
	var err error
	if server, err = redistest.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer server.Stop()
	return m.Run()
}

var prefixes atomic.Int64

// newPrefix is one that no other test has.
func newPrefix() string { return fmt.Sprint("cases", prefixes.Add(1)) }

// start is a whole hour.
var start = time.Unix(1_699_999_200, 0)

// clock is a time that a test moves.
type clock struct{ time.Time }

func newClock() *clock { return &clock{start} }

func (c *clock) now() time.Time          { return c.Time }
func (c *clock) advance(d time.Duration) { c.Time = c.Add(d) }

// stores are those that come with the project, by name.
var stores = map[string]func(t testing.TB) core.Store{
	"memory": func(t testing.TB) core.Store { return newMemory(t) },
	"redis":  func(t testing.TB) core.Store { return newRedis(t, server.Client()) },
}

func newMemory(t testing.TB, options ...core.MemoryOption) *core.Memory {
	m := core.NewMemory(options...)
	t.Cleanup(func() { m.Close() })
	return m
}

// newRedis is a store over a client that it closes with the test.
func newRedis(t testing.TB, client redis.UniversalClient, options ...redisstore.Option) *redisstore.Store {
	t.Cleanup(func() {
		// While a call is in flight, go-redis's Close can wait for its own lock.
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if stats := client.PoolStats(); stats.TotalConns == stats.IdleConns {
				break
			}
		}
		client.Close()
	})
	all := append([]redisstore.Option{redisstore.Prefix(newPrefix()), redisstore.Timeout(patience)}, options...)
	return redisstore.New(client, all...)
}

// onStores runs a case on both stores.
func onStores(t *testing.T, run func(t *testing.T, store core.Store)) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) { run(t, open(t)) })
	}
}

// scene is a limiter of one policy, on a clock of its own.
type scene struct {
	*core.Limiter
	*clock
	policy core.Policy
}

// everywhere runs a case for every algorithm on every store.
func everywhere(t *testing.T, count int64, period time.Duration, run func(t *testing.T, s *scene)) {
	for _, p := range policies.OneOfEach(count, period) {
		onStores(t, func(t *testing.T, store core.Store) {
			t.Run(p.Name, func(t *testing.T) { run(t, newScene(t, store, p)) })
		})
	}
}

func closed(p core.Policy) core.Policy { return p.WhenStoreAway(core.Closed) }

func newScene(t testing.TB, store core.Store, p core.Policy) *scene {
	t.Helper()
	c := newClock()
	return &scene{newLimiter(t, store, p).WithNow(c.now), c, p}
}

func newLimiter(t testing.TB, store core.Store, policies ...core.Policy) *core.Limiter {
	t.Helper()
	limiter, err := core.NewLimiter(store, policies...)
	if err != nil {
		t.Fatal(err)
	}
	return limiter
}

// take asks for one unit of every policy.
func take(t testing.TB, l *core.Limiter, keys ...string) core.Result {
	t.Helper()
	return takeN(t, l, 1, keys...)
}

func takeN(t testing.TB, l *core.Limiter, cost int64, keys ...string) core.Result {
	t.Helper()
	r, err := l.TakeN(ctx, cost, keys...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// ask is take for the only key of a scene.
func (s *scene) ask(t testing.TB) core.Result {
	t.Helper()
	return take(t, s.Limiter, "k")
}

// asks counts what is admitted of n requests at intervals.
func (s *scene) asks(t testing.TB, n int, interval time.Duration) (admitted int) {
	t.Helper()
	for range n {
		if s.ask(t).Allowed {
			admitted++
		}
		s.advance(interval)
	}
	return admitted
}

func remaining(r core.Result) int64 { return r.Decision(0).Remaining }

// atOnce calls from n goroutines that are let go together.
func atOnce(n int, call func(i int)) {
	var ready, done sync.WaitGroup
	gate := make(chan struct{})
	ready.Add(n)
	for i := range n {
		done.Go(func() {
			ready.Done()
			<-gate
			call(i)
		})
	}
	ready.Wait()
	close(gate)
	done.Wait()
}
