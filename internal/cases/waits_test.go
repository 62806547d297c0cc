package cases_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// go-redis/redis_rate#42: a wait of -1ns where there was none.
func Test_B31_NoWaitIsZero(t *testing.T) {
	everywhere(t, 2, time.Minute, func(t *testing.T, s *scene) {
		for i := range 4 {
			r := s.ask(t)
			if r.Allowed != (i < 2) || (r.RetryAfter > 0) == r.Allowed || r.RetryAfter < 0 || (r.RetryAfterSeconds() > 0) == r.Allowed {
				t.Errorf("request %d: allowed %v, wait %v, %d s", i+1, r.Allowed, r.RetryAfter, r.RetryAfterSeconds())
			}
		}
	})
}

// go-chi/httprate#47, fastify/fastify-rate-limit PR324, dotnet/runtime#92557: the wait
// was always the whole window.
func Test_B32_TheWaitShrinks(t *testing.T) {
	want := map[string]time.Duration{"fixed": 40 * time.Second, "log": 40 * time.Second, "counter": 46 * time.Second}
	everywhere(t, 10, time.Minute, func(t *testing.T, s *scene) {
		s.asks(t, 10, 2*time.Second)
		if s.policy.Algorithm == core.TokenBucket || s.policy.Algorithm == core.LeakyBucket {
			s.asks(t, 3, 0) // what has come back meanwhile
		}
		before := s.ask(t).RetryAfter
		if w := want[s.policy.Name]; w > 0 && before != w {
			t.Errorf("told to wait %v, want %v", before, w)
		}
		s.advance(time.Second)
		if after := s.ask(t).RetryAfter; after != before-time.Second {
			t.Errorf("told to wait %v, a second later %v", before, after)
		}
	})
}

// brandur/redis-cell#56, hashicorp/boundary PR4094, fastify/fastify-rate-limit PR325:
// who waited as long as told was refused again.
func Test_B33_WhoWaitsAsToldIsAdmitted(t *testing.T) {
	everywhere(t, 3, 7*time.Second, func(t *testing.T, s *scene) {
		random := rand.New(rand.NewPCG(7, 7))
		for phase := range 100 {
			s.advance(time.Duration(random.Int64N(20_000_000)) * time.Microsecond)
			r := s.ask(t)
			for r.Allowed {
				r = s.ask(t)
			}
			seconds := r.RetryAfterSeconds()
			if seconds < 1 {
				t.Fatalf("phase %d: told to wait %d s", phase, seconds)
			}
			s.advance(time.Duration(seconds) * time.Second)
			if r = s.ask(t); !r.Allowed {
				t.Fatalf("phase %d: refused after the %d s that it was told to wait", phase, seconds)
			}
		}
	})
}

// dotnet/aspnetcore#52411, mailgun/gubernator#24: one algorithm gave no hints.
func Test_B37_EveryAlgorithmGivesEveryHint(t *testing.T) {
	everywhere(t, 2, time.Minute, func(t *testing.T, s *scene) {
		for i := range int64(4) {
			r := s.ask(t)
			d := r.Decision(0)
			if r.Len() != 1 || r.Binding != 0 || d.Limit != s.policy.Limit || d.Capacity != 2 || d.Remaining != max(0, 1-i) ||
				d.ResetAfter <= 0 || d.Allowed == (d.RetryAfter > 0) {
				t.Errorf("request %d: %+v", i+1, d)
			}
		}
	})
}

// ulule/limiter#94: after sleeping until the reset the key was still there.
func Test_B39_AfterTheResetTheKeyIsNew(t *testing.T) {
	everywhere(t, 2, 30*time.Second, func(t *testing.T, s *scene) {
		s.advance(900 * time.Millisecond)
		s.asks(t, 2, 0)
		r := s.ask(t)
		reset := r.Decision(0).ResetAfter
		s.advance(reset)
		if r := s.ask(t); !r.Allowed || remaining(r) != 1 {
			t.Errorf("after its reset of %v: allowed %v, %d remain", reset, r.Allowed, remaining(r))
		}
	})
}

// epam/ai-dial-core PR617: of two limits that refuse the shorter wait won.
func Test_B40_TheLongerWaitWins(t *testing.T) {
	short, long := closed(core.Per(2, 10*time.Second).SlidingWindowLog().Named("short")), closed(core.PerHour(3).SlidingWindowLog().Named("long"))
	for _, order := range [][]core.Policy{{short, long}, {long, short}} {
		onStores(t, func(t *testing.T, store core.Store) {
			c := newClock()
			l := newLimiter(t, store, order...).WithNow(c.now)
			take(t, l, "k", "k")
			c.advance(10 * time.Second)
			take(t, l, "k", "k")
			take(t, l, "k", "k")
			r := take(t, l, "k", "k")
			if r.Allowed || r.RetryAfter != time.Hour-10*time.Second || order[r.Binding].Name != "long" {
				t.Errorf("allowed %v, wait %v by %s", r.Allowed, r.RetryAfter, order[r.Binding].Name)
			}
			if d := r.Decisions(); d[0].RetryAfter == 0 || d[1].RetryAfter == 0 {
				t.Errorf("both refuse: %+v", d)
			}
		})
	}
}
