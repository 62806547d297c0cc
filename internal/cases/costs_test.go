package cases_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/policies"
)

// express-rate-limit/express-rate-limit PR380: a limit of 0 was no limit.
func Test_B15_ALimitOfNothingIsNotUnlimited(t *testing.T) {
	for _, p := range policies.OneOfEach(1, time.Second) {
		for _, limit := range []core.Limit{
			{Count: 0, Period: time.Second}, {Count: -1, Period: time.Second}, {Count: 1}, {Count: 1, Period: -time.Second},
			{Count: 1, Period: time.Second, Burst: -1}, {},
		} {
			p.Limit = limit
			if _, err := core.NewLimiter(nil, p); !errors.Is(err, core.ErrInvalid) {
				t.Errorf("%s of %+v: %v", p.Name, limit, err)
			}
		}
	}
}

// abersheeran/asgi-ratelimit#56, SatyamPandey-07/WorkSphere#2122: stores, and the
// memory that stands in for one, disagreed at the smallest limits.
func Test_B16_StoresAgreeAtTheSmallestLimits(t *testing.T) {
	for _, count := range []int64{1, 2} {
		for _, p := range policies.OneOfEach(count, 2*time.Second) {
			c := newClock()
			memory := newLimiter(t, newMemory(t), p).WithNow(c.now)
			redis := newLimiter(t, stores["redis"](t), p).WithNow(c.now)
			standIn := newLimiter(t, nowhere{}, p.WhenStoreAway(core.Local)).WithNow(c.now)
			for i, cost := range []int64{0, 1, 1, 3, 1, 0, 2, 1, 1, 2, 1} {
				want := takeN(t, memory, cost, "k")
				for name, l := range map[string]*core.Limiter{"redis": redis, "stand-in": standIn} {
					if got := takeN(t, l, cost, "k"); got.Decision(0) != want.Decision(0) {
						t.Errorf("%s of %d, step %d: %s says\n%+v, memory\n%+v", p.Name, count, i, name, got.Decision(0), want.Decision(0))
					}
				}
				c.advance(300 * time.Millisecond)
			}
		}
	}
}

// golang/go#39984, brandur/redis-cell#41, clipperhouse/rate#34: a rate of zero admitted
// without end, or divided by zero.
func Test_B17_NoRateOfZero(t *testing.T) {
	everywhere(t, 1, 366*24*time.Hour, func(t *testing.T, s *scene) { // the slowest that there is
		if n := s.asks(t, 100, time.Second); n != 1 {
			t.Errorf("%d of 100 admitted at one a year", n)
		}
	})
	everywhere(t, 2, time.Minute, func(t *testing.T, s *scene) {
		s.ask(t)
		for _, limit := range []core.Limit{{Count: -1, Period: time.Minute}, {Count: 0, Period: time.Minute}, {Count: math.MinInt64, Period: 1}, {Count: 1, Period: math.MaxInt64}} {
			if r, err := s.Decide(ctx, []core.Units{{Key: "k", Cost: 1, Limit: limit}}); !errors.Is(err, core.ErrInvalid) || r.Allowed {
				t.Errorf("a limit of %+v chosen at run time: %v", limit, err)
			}
		}
		r, err := s.Decide(ctx, []core.Units{{Key: "k", Cost: 1, Limit: core.Blocked()}})
		if err != nil || r.Allowed || !r.Never {
			t.Errorf("blocked: %+v, %v", r, err)
		}
		if r := s.ask(t); !r.Allowed || remaining(r) != 0 {
			t.Errorf("what was refused has charged: %+v", r.Decision(0))
		}
	})
}

// throttled/throttled#97, bucket4j/bucket4j#220, redis/redis PR15113: a cost that can
// never fit was told to wait.
func Test_B23_ACostAboveTheCapacityIsNever(t *testing.T) {
	everywhere(t, 5, time.Minute, func(t *testing.T, s *scene) {
		for _, cost := range []int64{6, 1000, math.MaxInt64} {
			r := takeN(t, s.Limiter, cost, "k")
			if r.Allowed || !r.Never || r.RetryAfter != 0 || r.RetryAfterSeconds() != 0 || remaining(r) != 5 {
				t.Errorf("a cost of %d: %+v, %+v", cost, r, r.Decision(0))
			}
		}
		if r := takeN(t, s.Limiter, 5, "k"); !r.Allowed {
			t.Errorf("the whole capacity: %+v", r)
		}
		if r := takeN(t, s.Limiter, 5, "k"); r.Allowed || r.Never || r.RetryAfter <= 0 {
			t.Errorf("not now is not never: %+v", r)
		}
	})
}

// speakeasy-api/gram PR3676: a cost of zero or less filled the limit up.
func Test_B24_NoCostGivesAnything(t *testing.T) {
	everywhere(t, 3, time.Minute, func(t *testing.T, s *scene) {
		s.asks(t, 3, 0)
		for _, cost := range []int64{-1, -3, math.MinInt64} {
			if r, err := s.TakeN(ctx, cost, "k"); !errors.Is(err, core.ErrNegativeCost) || r.Allowed {
				t.Errorf("a cost of %d: %+v, %v", cost, r, err)
			}
		}
		if r := takeN(t, s.Limiter, 0, "k"); !r.Allowed || remaining(r) != 0 {
			t.Errorf("a peek: %+v", r.Decision(0))
		}
		if s.ask(t).Allowed {
			t.Error("admitted past the limit")
		}
	})
}

// mailgun/gubernator#156: a refund was ignored where nothing remained.
func Test_B25_ARefundCountsWhereNothingRemains(t *testing.T) {
	everywhere(t, 3, time.Minute, func(t *testing.T, s *scene) {
		s.asks(t, 2, 0)
		last := s.ask(t)
		s.ask(t)
		for range 3 { // it gives back once
			if err := s.Refund(ctx, &last); err != nil {
				t.Fatal(err)
			}
		}
		if n := s.asks(t, 3, 0); n != 1 {
			t.Errorf("%d admitted after one refund", n)
		}
		only := take(t, s.Limiter, "other")
		if err := s.Refund(ctx, &only); err != nil {
			t.Fatal(err)
		}
		if r := takeN(t, s.Limiter, 0, "other"); remaining(r) != 3 {
			t.Errorf("%d of 3 remain after the refund of the only one", remaining(r))
		}
	})
}

// mailgun/gubernator#156, where a refusal may be remembered: on the store's own clock.
func Test_B25_ARefundLiftsWhatIsRemembered(t *testing.T) {
	for _, p := range policies.OneOfEach(3, 366*24*time.Hour) {
		onStores(t, func(t *testing.T, store core.Store) {
			l := newLimiter(t, store, p)
			var last core.Result
			for range 3 {
				last = take(t, l, "k")
			}
			for range 3 {
				if take(t, l, "k").Allowed {
					t.Fatalf("%s: a fourth of three is admitted", p.Name)
				}
			}
			if err := l.Refund(ctx, &last); err != nil {
				t.Fatal(err)
			}
			if first, second := take(t, l, "k"), take(t, l, "k"); !first.Allowed || second.Allowed {
				t.Errorf("%s: after a refund %v, then %v", p.Name, first.Allowed, second.Allowed)
			}
		})
	}
}

// express-rate-limit/express-rate-limit#546, animir/node-rate-limiter-flexible#71,
// elizaOS/eliza#20541: timers overflowed on long windows.
func Test_B27_LongWindowsHold(t *testing.T) {
	day := 24 * time.Hour
	for _, period := range []time.Duration{day, 31 * day, 365 * day, 366 * day} {
		everywhere(t, 2, period, func(t *testing.T, s *scene) {
			if n := s.asks(t, 10, time.Minute); n != 2 {
				t.Errorf("%d admitted at 2 in %v", n, period)
			}
			if r := s.ask(t); r.RetryAfter <= 0 || r.RetryAfter > 2*period {
				t.Errorf("told to wait %v of %v", r.RetryAfter, period)
			}
		})
	}
	for _, period := range []time.Duration{366*day + 1, 100 * 365 * day, math.MaxInt64} {
		if _, err := core.NewLimiter(nil, core.Policy{Limit: core.Limit{Count: 1, Period: period}}); !errors.Is(err, core.ErrInvalid) {
			t.Errorf("a period of %v: %v", period, err)
		}
	}
}

// express-rate-limit/express-rate-limit#546: and their keys live as long as they count.
func Test_B27_LongKeysLeaveByThemselves(t *testing.T) {
	const day = 24 * time.Hour
	for _, p := range policies.OneOfEach(2, 366*day) {
		client, prefix := server.Client(), newPrefix()
		l := newLimiter(t, newRedis(t, client, redisstore.Prefix(prefix)), p)
		r := take(t, l, "k")
		names := client.Keys(ctx, prefix+":*").Val()
		if len(names) != 1 {
			t.Fatalf("%s: keys %q", p.Name, names)
		}
		life, reset := client.PTTL(ctx, names[0]).Val(), r.Decision(0).ResetAfter
		if life <= reset-time.Minute || life > reset+time.Minute || life > 2*366*day {
			t.Errorf("%s: the key lives %v and counts for %v", p.Name, life, reset)
		}
	}
}
