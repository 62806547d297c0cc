package main

import (
	"net/http"
	"time"

	"github.com/go-chi/httprate"
	httprateredis "github.com/go-chi/httprate-redis"
	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
	ulule "github.com/ulule/limiter/v3"
	ululeredis "github.com/ulule/limiter/v3/drivers/store/redis"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
)

const (
	threeName    = "three token buckets in one decision"
	leasedName   = "token bucket, 1,000 units on lease"
	redisRate    = "redis_rate"
	smallestName = "smallest script"
	getName      = "GET"
)

// redisPeers are the contenders on one server. Each has a client of its own, all
// with the same options.
func redisPeers(addr string) []contender {
	client := func() *redis.Client { return newClient(addr) }
	own := func(policy func(quota) core.Policy) func(quota) engine {
		return func(q quota) engine { return openOnRedis(client(), policy(q)) }
	}
	return []contender{
		{tokenName, ours, own(token)},
		{"leaky bucket", ours, own(leaky)},
		{"fixed window", ours, own(fixed)},
		{"sliding-window counter", ours, own(slidingCounter)},
		{logName, ours, own(slidingLog)},
		{threeName, ours, func(q quota) engine { return openThreeOnRedis(client(), token(q)) }},
		{leasedName, ours, own(func(q quota) core.Policy { return token(q).Leasing(1000) })},
		{redisRate, peer, func(q quota) engine { return openRedisRate(client(), q) }},
		{"ulule/limiter", peer, func(q quota) engine { return openUluleRedis(client(), q) }},
		{"httprate-redis", peer, func(q quota) engine { return openHTTPRateRedis(client(), q) }},
		{smallestName, floor, func(q quota) engine { return openSmallest(client(), q) }},
		{getName, floor, func(quota) engine { return openGet(client()) }},
	}
}

func newClient(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, ContextTimeoutEnabled: true})
}

func openOnRedis(client *redis.Client, p core.Policy) engine {
	l := must(core.NewLimiter(patient(client), p.Named("bench").WhenStoreAway(core.Closed)))
	return engine{
		take:  func(key string) bool { return must(l.Take(ctx, key)).Allowed },
		close: func() { _ = client.Close() },
	}
}

func openThreeOnRedis(client *redis.Client, p core.Policy) engine {
	p = p.WhenStoreAway(core.Closed)
	l := must(core.NewLimiter(patient(client), p.Named("ip"), p.Named("user"), p.Named("route")))
	return engine{
		take:  func(key string) bool { return must(l.Take(ctx, key, "alice", "GET /pay")).Allowed },
		close: func() { _ = client.Close() },
	}
}

// patient is a store that waits as long as the peers do, so that an overloaded
// machine shows as time and not as an error.
func patient(client *redis.Client) *redisstore.Store {
	return redisstore.New(client, redisstore.Timeout(10*time.Second))
}

func openRedisRate(client *redis.Client, q quota) engine {
	l := redis_rate.NewLimiter(client)
	rate := redis_rate.Limit{Rate: 1, Burst: int(q.limit), Period: q.refill}
	return engine{
		take:  func(key string) bool { return must(l.Allow(ctx, key, rate)).Allowed == 1 },
		close: func() { _ = client.Close() },
	}
}

func openUluleRedis(client *redis.Client, q quota) engine {
	l := ulule.New(must(ululeredis.NewStore(client)), ulule.Rate{Limit: q.limit, Period: q.window})
	return engine{
		take:  func(key string) bool { return !must(l.Get(ctx, key)).Reached },
		close: func() { _ = client.Close() },
	}
}

// openHTTPRateRedis counts in Redis only: by default httprate-redis turns to its
// own memory when Redis is slow, which would be timed instead.
func openHTTPRateRedis(client *redis.Client, q quota) engine {
	l := httprate.NewRateLimiter(int(q.limit), q.window,
		httprateredis.WithRedisLimitCounter(&httprateredis.Config{
			Client: client, WindowLength: q.window, FallbackDisabled: true, FallbackTimeout: 10 * time.Second,
		}),
		httprate.WithResponseHeaders(httprate.ResponseHeaders{}), // writes no header fields, so it needs no writer
		httprate.WithErrorHandler(func(_ http.ResponseWriter, _ *http.Request, err error) { panic(err) }))
	r := must(http.NewRequest(http.MethodGet, "/", nil))
	return engine{
		take:  func(key string) bool { return !l.OnLimit(nil, r, key) },
		close: func() { _ = client.Close() },
	}
}

// smallest is a token bucket as small as a correct one can be: one number, the
// time at which the bucket will be full, in microseconds. ARGV: microseconds for a
// unit, and for a full bucket.
var smallest = redis.NewScript(`
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now) + ARGV[1]
local over = full - now - ARGV[2]
if over > 0 then return {0, math.ceil(over)} end
redis.call('SET', KEYS[1], full, 'PX', math.ceil((full - now) / 1000))
return {1, math.floor(-over / ARGV[1])}
`)

func openSmallest(client *redis.Client, q quota) engine {
	unit := q.refill.Microseconds()
	return engine{
		take: func(key string) bool {
			reply := must(smallest.EvalSha(ctx, client, []string{key}, unit, unit*q.limit).Int64Slice())
			return reply[0] == 1
		},
		close: func() { _ = client.Close() },
	}
}

func openGet(client *redis.Client) engine {
	return engine{
		take: func(key string) bool {
			err := client.Get(ctx, key).Err()
			return err == redis.Nil
		},
		close: func() { _ = client.Close() },
	}
}
