package reliability

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
)

// long is a period in which nothing that was used comes back.
const long = 366 * 24 * time.Hour

// patience is a deadline for tests of what is decided, not of when.
const patience = 10 * time.Second

var ctx = context.Background()

func TestMain(m *testing.M) {
	logging.Disable() // servers are away here on purpose
	if address := os.Getenv(serviceStore); address != "" {
		serve(address)
	}
	os.Exit(m.Run())
}

func closed(p core.Policy) core.Policy { return p.WhenStoreAway(core.Closed) }

// newStore is a store over a client that it closes with the test.
func newStore(t testing.TB, client redis.UniversalClient, options ...redisstore.Option) *redisstore.Store {
	t.Cleanup(func() { client.Close() })
	return redisstore.New(client, append([]redisstore.Option{redisstore.Timeout(patience), redisstore.RememberRefusals(0)}, options...)...)
}

func newLimiter(t testing.TB, store core.Store, policies ...core.Policy) *core.Limiter {
	t.Helper()
	limiter, err := core.NewLimiter(store, policies...)
	if err != nil {
		t.Fatal(err)
	}
	return limiter
}

func take(t testing.TB, l *core.Limiter, keys ...string) core.Result {
	t.Helper()
	r, err := l.Take(ctx, keys...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// used is what is charged to a key of a limiter of one policy.
func used(t testing.TB, l *core.Limiter, key string) int64 {
	t.Helper()
	r, err := l.Peek(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	return r.Decision(0).Capacity - r.Decision(0).Remaining
}

// admitted counts how many of n requests are.
func admitted(t testing.TB, l *core.Limiter, n int, key string) (count int64) {
	t.Helper()
	for range n {
		if take(t, l, key).Allowed {
			count++
		}
	}
	return count
}

// eventually waits for what takes a server or a goroutine some time, and tells how long.
func eventually(t testing.TB, what string, longest time.Duration, done func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !done() {
		if time.Since(began) > longest {
			t.Fatalf("not within %v: %s", longest, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return time.Since(began)
}

// crowd has n goroutines call until it is stopped. A call is given a number of its own.
func crowd(n int, call func(i int64)) (stop func() (calls int64)) {
	var next atomic.Int64
	var done sync.WaitGroup
	over := make(chan struct{})
	for range n {
		done.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					call(next.Add(1) - 1)
				}
			}
		})
	}
	return func() int64 {
		close(over)
		done.Wait()
		return next.Load()
	}
}

func keyOf(i int64) string { return fmt.Sprint("k", i) }

// percentile of times, which it sorts.
func percentile(times []time.Duration, p int) time.Duration {
	slices.Sort(times)
	if len(times) == 0 {
		return 0
	}
	return times[min(len(times)-1, len(times)*p/100)]
}

func contains(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }
