package main

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/didip/tollbooth/v8/limiter"
	"github.com/go-chi/httprate"
	"github.com/labstack/echo/v4/middleware"
	"github.com/sethvargo/go-limiter/memorystore"
	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"
	ulule "github.com/ulule/limiter/v3"
	ululememory "github.com/ulule/limiter/v3/drivers/store/memory"
	"golang.org/x/time/rate"

	"github.com/ratelimit-go/ratelimit/core"
)

// engine is a limiter, ready for keys.
type engine struct {
	take  func(key string) bool // one unit: admitted?
	close func()
}

// contender is a way to limit.
type contender struct {
	name string
	kind kind
	open func(quota) engine
}

// quota is one limit in the words of all contenders.
type quota struct {
	limit  int64         // windows admit it in a window; a bucket's burst
	window time.Duration // also of a log whose limit is not above a million
	refill time.Duration // of one unit of a bucket
	log    time.Duration // the window of a log that admits a million, for a limit above
}

// few admits limit and then nothing for a while.
func few(limit int64) quota {
	return quota{limit: limit, window: time.Hour, refill: time.Hour / time.Duration(limit)}
}

// Plenty admits all of a turn, so that what is timed is the path of an admitted
// request. The refill is slow, so that the keys stay known and the state alive. The
// log's window is short where one key takes everything.
var (
	plenty     = quota{limit: 50_000_000, window: time.Minute, refill: 20 * time.Second, log: 10 * time.Second}
	plentyOnce = quota{limit: 50_000_000, window: time.Minute, refill: 20 * time.Second, log: 50 * time.Millisecond}
)

// tokenName is the contender whose figures the targets are about.
const tokenName = "token bucket"

var memoryPeers = []contender{
	{tokenName, ours, own(token)},
	{"leaky bucket", ours, own(leaky)},
	{"fixed window", ours, own(fixed)},
	{"sliding-window counter", ours, own(slidingCounter)},
	{logName, ours, own(slidingLog)},
	{"x/time/rate in a sync.Map", peer, openRate},
	{"go-limiter", peer, openGoLimiter},
	{"ulule/limiter", peer, openUlule},
	{"throttled", peer, openThrottled},
	{"tollbooth", peer, openTollbooth},
	{"httprate", peer, openHTTPRate},
	{"Echo's built-in", peer, openEcho},
	{floorName, floor, openFloor},
}

const (
	logName   = "sliding-window log"
	floorName = "clock and map"
)

// The five algorithms at one quota.

func token(q quota) core.Policy { return core.Per(1, q.refill).TokenBucket(q.limit) }

func leaky(q quota) core.Policy { return core.Per(1, q.refill).LeakyBucket(q.limit) }

func fixed(q quota) core.Policy { return core.Per(q.limit, q.window).FixedWindow() }

func slidingCounter(q quota) core.Policy { return core.Per(q.limit, q.window) }

func slidingLog(q quota) core.Policy {
	if q.limit > 1_000_000 {
		return core.Per(1_000_000, q.log).SlidingWindowLog()
	}
	return core.Per(q.limit, q.window).SlidingWindowLog()
}

// own opens this library's engine.
func own(policy func(quota) core.Policy) func(quota) engine {
	return func(q quota) engine { return openPolicies(policy(q)) }
}

func openPolicies(p core.Policy) engine {
	store := core.NewMemory()
	l := must(core.NewLimiter(store, p))
	ctx := context.Background()
	return engine{
		take: func(key string) bool {
			r, err := l.Take(ctx, key)
			return r.Allowed && err == nil
		},
		close: func() { _ = store.Close() }, // never fails
	}
}

// openRate is what the package's users write for a limiter for each key. Nothing
// ever leaves the map: that would cost it more.
func openRate(q quota) engine {
	var limiters sync.Map
	return engine{
		take: func(key string) bool {
			found, ok := limiters.Load(key)
			if !ok {
				found, _ = limiters.LoadOrStore(key, rate.NewLimiter(rate.Every(q.refill), int(q.limit)))
			}
			return found.(*rate.Limiter).Allow()
		},
		close: func() {},
	}
}

func openGoLimiter(q quota) engine {
	store := must(memorystore.New(&memorystore.Config{Tokens: uint64(q.limit), Interval: q.window}))
	ctx := context.Background()
	return engine{
		take: func(key string) bool {
			_, _, _, ok, err := store.Take(ctx, key)
			return ok && err == nil
		},
		close: func() { _ = store.Close(ctx) },
	}
}

func openUlule(q quota) engine {
	l := ulule.New(ululememory.NewStore(), ulule.Rate{Limit: q.limit, Period: q.window})
	ctx := context.Background()
	return engine{
		take: func(key string) bool {
			result, err := l.Get(ctx, key)
			return !result.Reached && err == nil
		},
		close: func() {},
	}
}

// openThrottled has no bound on the number of keys: with one it keeps a list of
// the least recently used, which costs it more.
func openThrottled(q quota) engine {
	bounds := throttled.RateQuota{MaxRate: throttled.PerDuration(1, q.refill), MaxBurst: int(q.limit) - 1}
	l := must(throttled.NewGCRARateLimiterCtx(must(memstore.NewCtx(0)), bounds))
	ctx := context.Background()
	return engine{
		take: func(key string) bool {
			limited, _, err := l.RateLimitCtx(ctx, key, 1)
			return !limited && err == nil
		},
		close: func() {},
	}
}

// openTollbooth calls the limiter below the HTTP part.
func openTollbooth(q quota) engine {
	l := limiter.New(nil).SetMax(1 / q.refill.Seconds()).SetBurst(int(q.limit))
	return engine{take: func(key string) bool { return !l.LimitReached(key) }, close: func() {}}
}

// openHTTPRate switches the header fields off: httprate's counting needs a request
// and a writer, and writes to neither then.
func openHTTPRate(q quota) engine {
	l := httprate.NewRateLimiter(int(q.limit), q.window, httprate.WithResponseHeaders(httprate.ResponseHeaders{}))
	r := must(http.NewRequest(http.MethodGet, "/", nil))
	return engine{take: func(key string) bool { return !l.OnLimit(nil, r, key) }, close: func() {}}
}

func openEcho(q quota) engine {
	store := middleware.NewRateLimiterMemoryStoreWithConfig(middleware.RateLimiterMemoryStoreConfig{
		Rate: rate.Every(q.refill), Burst: int(q.limit), ExpiresIn: time.Hour,
	})
	return engine{
		take: func(key string) bool {
			ok, err := store.Allow(key)
			return ok && err == nil
		},
		close: func() {},
	}
}

// openFloor is what no limiter can do without: it reads the clock (the monotonic
// one, which costs half), finds the key, and notes the time. It limits nothing.
func openFloor(quota) engine {
	start := time.Now()
	var mu sync.RWMutex
	seen := map[string]*atomic.Int64{}
	return engine{
		take: func(key string) bool {
			now := int64(time.Since(start))
			mu.RLock()
			last := seen[key]
			mu.RUnlock()
			if last == nil {
				last = new(atomic.Int64)
				mu.Lock()
				seen[key] = last
				mu.Unlock()
			}
			last.Store(now)
			return true
		},
		close: func() {},
	}
}
