package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

// clients are go-redis as it comes, and with the setting that makes it heed contexts.
func clients(s *redistest.Server) map[string]*redis.Client {
	return map[string]*redis.Client{
		"default":        redis.NewClient(&redis.Options{Addr: s.Addr()}),
		"contextTimeout": redis.NewClient(&redis.Options{Addr: s.Addr(), ContextTimeoutEnabled: true}),
		"shortRead":      redis.NewClient(&redis.Options{Addr: s.Addr(), ReadTimeout: 20 * time.Millisecond}),
	}
}

func TestAFlushedScriptIsLoadedAgain(t *testing.T) {
	own := redistest.Start(t)
	client := own.Client()
	limiter := newLimiter(t, newStore(t, client), closed(core.PerHour(100).Named("p")))
	for i := range 5 {
		if err := client.ScriptFlush(ctx).Err(); err != nil {
			t.Fatal(err)
		}
		if r := take(t, limiter, "k"); r.Decision(0).Remaining != int64(99-i) {
			t.Errorf("take %d: %d remain", i, r.Decision(0).Remaining)
		}
	}
	own.Restart()
	if r := take(t, limiter, "k"); !r.Allowed {
		t.Errorf("after a restart: %+v", r)
	}
}

// A frozen server executes what has reached its sockets when it thaws: whatever the
// client has sent again meanwhile would be charged as well.
func TestAnAnswerThatComesTooLateIsChargedOnce(t *testing.T) {
	own := redistest.Start(t)
	for name, client := range clients(own) {
		t.Run(name, func(t *testing.T) {
			store := newStore(t, client, redisstore.Timeout(300*time.Millisecond))
			limiter := newLimiter(t, store, closed(core.PerHour(100).Named("p")))
			take(t, limiter, "k")
			connect(client, 8)
			own.Freeze()
			r, err := limiter.Take(ctx, "k")
			own.Thaw()
			if err == nil {
				t.Fatalf("a frozen server has answered: %+v", r)
			}
			time.Sleep(50 * time.Millisecond) // what was sent is executed now
			if r, err = limiter.Peek(ctx, "k"); err != nil {
				t.Fatal(err)
			}
			if used := 100 - r.Decision(0).Remaining; used != 2 {
				t.Errorf("two takes have charged %d", used)
			}
		})
	}
}

// connect has a client open n connections, so that it could send again.
func connect(client *redis.Client, n int) {
	var done sync.WaitGroup
	done.Add(n)
	for range n {
		go func() {
			defer done.Done()
			client.Do(ctx, "blpop", "a list that is not there", "0.01")
		}()
	}
	done.Wait()
}

func TestTheDeadlineHoldsAgainstAFrozenServer(t *testing.T) {
	own := redistest.Start(t)
	for name, client := range clients(own) {
		t.Run(name, func(t *testing.T) {
			store := newStore(t, client, redisstore.Timeout(500*time.Millisecond))
			limiter := newLimiter(t, store, closed(core.PerHour(100).Named("p")), closed(core.PerHour(100).Named("q")))
			take(t, limiter, "k", "k")
			own.Freeze()
			start := time.Now()
			_, err := limiter.Take(ctx, "k", "k")
			took := time.Since(start)
			own.Thaw()
			if !errors.Is(err, core.ErrStoreAway) || took > 2*time.Second {
				t.Errorf("%v after %v", err, took)
			}
			if name != "shortRead" && !errors.Is(err, redisstore.ErrTimeout) {
				t.Errorf("%v is not ErrTimeout", err)
			}
			if !strings.Contains(err.Error(), "ratelimit: redis: ") {
				t.Errorf("%v does not name redis", err)
			}
		})
	}
}

func TestTheCallersOwnEndIsTold(t *testing.T) {
	own := redistest.Start(t)
	cause := errors.New("the caller has had enough")
	for name, client := range clients(own) {
		t.Run(name, func(t *testing.T) {
			store := newStore(t, client, redisstore.Timeout(300*time.Millisecond))
			terms, _ := core.PerHour(5).Terms(core.PerHour(5).Limit)
			asks := []core.Ask{{Terms: terms, Key: "k", Cost: 1, LongestWait: -1}}
			over, cancel := context.WithCancelCause(ctx)
			cancel(cause)
			if err := store.Take(over, time.Time{}, asks); !errors.Is(err, cause) {
				t.Errorf("cancelled: %v", err)
			}
			own.Freeze()
			short, stop := context.WithTimeout(ctx, 10*time.Millisecond)
			defer stop()
			err := store.Take(short, time.Time{}, asks)
			own.Thaw()
			if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, redisstore.ErrTimeout) {
				t.Errorf("the caller's deadline: %v", err)
			}
		})
	}
}

func TestAFrozenServerDoesNotPileUpGoroutines(t *testing.T) {
	own := redistest.Start(t)
	store := newStore(t, redis.NewClient(&redis.Options{Addr: own.Addr()}), redisstore.Timeout(3*time.Second))
	limiter := newLimiter(t, store, closed(core.PerHour(100).Named("p")))
	take(t, limiter, "k")
	own.Freeze()
	const callers = 7000
	var busy atomic.Int64
	var done sync.WaitGroup
	done.Add(callers)
	for range callers {
		go func() {
			defer done.Done()
			if _, err := limiter.Take(ctx, "k"); errors.Is(err, redisstore.ErrBusy) {
				busy.Add(1)
			}
		}()
	}
	done.Wait()
	own.Thaw()
	if n := busy.Load(); n < callers-4096-2048 || n > callers-4096 {
		t.Errorf("%d of %d were turned away, at 4096 that wait and 16 calls of 128 in flight", n, callers)
	}
}

func TestRedisMayBeAbsent(t *testing.T) {
	own := redistest.Start(t)
	own.Kill()
	for name, client := range clients(own) {
		t.Run(name, func(t *testing.T) {
			limiter := newLimiter(t, newStore(t, client, redisstore.Timeout(100*time.Millisecond)), closed(core.PerHour(100).Named("p")))
			start := time.Now()
			_, err := limiter.Take(ctx, "k")
			if took := time.Since(start); err == nil || took > time.Second {
				t.Errorf("%v after %v", err, took)
			}
		})
	}
}

// A connection that is never made must not outlast the deadline either.
func TestTheDeadlineHoldsWhileDialling(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	for _, heeds := range []bool{false, true} {
		t.Run(fmt.Sprint("contextTimeout ", heeds), func(t *testing.T) {
			client := redis.NewClient(&redis.Options{
				ContextTimeoutEnabled: heeds,
				Dialer: func(context.Context, string, string) (net.Conn, error) {
					<-release
					return nil, errors.New("released")
				},
			})
			store := newStore(t, client, redisstore.Timeout(50*time.Millisecond))
			limiter := newLimiter(t, store, closed(core.PerHour(100).Named("p")))
			start := time.Now()
			_, err := limiter.Take(ctx, "k")
			if took := time.Since(start); err == nil || took > time.Second {
				t.Errorf("%v after %v", err, took)
			}
		})
	}
}

// While a server starts or is a replica it proves that it has charged nothing: the
// decision is tried again until the deadline.
func TestWhatWasSurelyNotExecutedIsTriedAgain(t *testing.T) {
	own := redistest.Start(t, "--replicaof", "127.0.0.1", "1", "--replica-serve-stale-data", "yes")
	limiter := newLimiter(t, newStore(t, own.Client()), closed(core.PerHour(100).Named("p")))
	admin := own.Client()
	defer admin.Close()
	promoted := make(chan error, 1)
	time.AfterFunc(50*time.Millisecond, func() { promoted <- admin.Do(ctx, "replicaof", "no", "one").Err() })
	if r := take(t, limiter, "k"); r.Decision(0).Remaining != 99 {
		t.Errorf("%+v", r.Decision(0))
	}
	if err := <-promoted; err != nil {
		t.Fatal(err)
	}
}
