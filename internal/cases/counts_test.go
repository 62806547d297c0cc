package cases_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/policies"
)

// gofiber/fiber#2578, mennanov/limiters#110: refused requests were counted, so that a
// steady client was never released.
func Test_B01_ASteadyClientIsReleased(t *testing.T) {
	for _, p := range policies.OneOfEach(5, 10*time.Second)[1:3] {
		onStores(t, func(t *testing.T, store core.Store) {
			s := newScene(t, store, p)
			var admitted [40]int
			for second := range admitted {
				admitted[second] = s.asks(t, 1, time.Second)
			}
			total := 0
			for second := range admitted {
				total += admitted[second]
				span := 0
				for _, n := range admitted[second:min(len(admitted), second+10)] {
					span += n
				}
				if whole := second+10 <= len(admitted); span > 5 || whole && span == 0 || whole && p.Name == "log" && span != 5 {
					t.Errorf("%s: %d admitted in the 10 s from second %d", p.Name, span, second)
				}
			}
			if total < 17 || total > 20 {
				t.Errorf("%s: %d admitted in 40 s, want about 20", p.Name, total)
			}
		})
	}
}

// peterkhayes/rolling-rate-limiter#36, rcarmo/piclaw PR105: blocked attempts were
// stored.
func Test_B02_BlockedAttemptsAreNotStored(t *testing.T) {
	client, prefix := server.Client(), newPrefix()
	store := newRedis(t, client, redisstore.Prefix(prefix))
	s := newScene(t, store, closed(core.Per(2, 4*time.Second).SlidingWindowLog().Named("log")))
	admitted := 0
	for range 20 {
		admitted += s.asks(t, 1, time.Second)
		keys := client.Keys(ctx, prefix+":*").Val()
		if len(keys) != 1 {
			t.Fatalf("keys %q", keys)
		}
		// Up to an eighth of the limit, and one, may wait for the next write to leave.
		if entries := client.LLen(ctx, keys[0]).Val(); entries > 3 {
			t.Errorf("%d entries are kept at a limit of 2", entries)
		}
	}
	if admitted != 10 {
		t.Errorf("%d admitted, want 2 in each of 5 spans", admitted)
	}
}

// peterkhayes/rolling-rate-limiter#11, sockudo/sockudo#251, theopenco/llmgateway
// PR1656: equal timestamps counted once.
func Test_B03_OneTickCountsEveryRequest(t *testing.T) {
	prefix := newPrefix()
	p := closed(core.Per(5, 10*time.Second).SlidingWindowLog().Named("log"))
	memory := newMemory(t)
	for name, open := range map[string]func() core.Store{
		"memory": func() core.Store { return memory },
		"redis":  func() core.Store { return newRedis(t, server.Client(), redisstore.Prefix(prefix)) },
	} {
		t.Run(name, func(t *testing.T) {
			var clients [4]*scene
			for i := range clients {
				clients[i] = newScene(t, open(), p)
			}
			var admitted atomic.Int64
			atOnce(100, func(i int) {
				if r, err := clients[i%len(clients)].Take(ctx, "k"); err == nil && r.Allowed {
					admitted.Add(1)
				}
			})
			if n := admitted.Load(); n != 5 {
				t.Errorf("%d admitted in one tick, want 5", n)
			}
			clients[0].advance(10*time.Second - time.Microsecond)
			if r := clients[0].ask(t); r.Allowed {
				t.Error("they did not count until their window had passed")
			}
		})
	}
}

// apache/shenyu PR7120: entries that had aged out were still counted.
func Test_B04_AgedEntriesDoNotCount(t *testing.T) {
	for _, c := range []struct {
		silence time.Duration
		allowed bool
	}{{1500 * time.Millisecond, true}, {time.Second - time.Microsecond, false}, {time.Second, true}, {1001 * time.Millisecond, true}} {
		onStores(t, func(t *testing.T, store core.Store) {
			s := newScene(t, store, closed(core.PerSecond(3).SlidingWindowLog().Named("log")))
			s.asks(t, 3, 0)
			s.advance(c.silence)
			if r := s.ask(t); r.Allowed != c.allowed || c.allowed && remaining(r) != 2 {
				t.Errorf("after %v: allowed %v, %d remain", c.silence, r.Allowed, remaining(r))
			}
		})
	}
}

// upstash/ratelimit-js PR157: the request that reaches the limit passed on one code
// path and failed on another.
func Test_B07_EveryPathHasTheSameLimit(t *testing.T) {
	year := 366 * 24 * time.Hour
	tenPass := func(t *testing.T, l *core.Limiter) {
		t.Helper()
		for i := range int64(13) { // the refused ones more than once: a refusal may be remembered
			r := take(t, l, "k")
			if r.Allowed != (i < 10) || remaining(r) != max(0, 9-i) {
				t.Errorf("request %d: allowed %v, %d remain", i+1, r.Allowed, remaining(r))
			}
		}
	}
	everywhere(t, 10, year, func(t *testing.T, s *scene) { tenPass(t, s.Limiter) })
	for _, p := range policies.OneOfEach(10, year) {
		t.Run("own clock/"+p.Name, func(t *testing.T) {
			onStores(t, func(t *testing.T, store core.Store) { tenPass(t, newLimiter(t, store, p)) })
		})
		t.Run("store away/"+p.Name, func(t *testing.T) { tenPass(t, newLimiter(t, nowhere{}, p.WhenStoreAway(core.Local))) })
	}
}

// rack/rack-attack#121: twice the limit around the edge of a window.
func Test_B22_OnlyTheFixedWindowDoublesAtItsEdge(t *testing.T) {
	want := map[string]int{"fixed": 10, "log": 5, "counter": 5, "token": 5, "leaky": 5}
	everywhere(t, 5, time.Minute, func(t *testing.T, s *scene) {
		s.advance(59 * time.Second)
		admitted := s.asks(t, 5, 0)
		s.advance(time.Second)
		if admitted += s.asks(t, 5, 0); admitted != want[s.policy.Name] {
			t.Errorf("%d admitted around the edge, want %d", admitted, want[s.policy.Name])
		}
	})
}

// gofiber/fiber#3892: once refused, never admitted again.
func Test_B29_PollersAreReleased(t *testing.T) {
	everywhere(t, 20, 30*time.Second, func(t *testing.T, s *scene) {
		if n := s.asks(t, 60, 10*time.Second); n != 60 {
			t.Errorf("a poller every 10 s was admitted %d times of 60", n)
		}
		s.advance(time.Hour) // idle
		for window := range 10 {
			if n := s.asks(t, 60, time.Second); n < 30 {
				t.Errorf("minute %d: a poller every second was admitted %d times, want about 40", window, n)
			}
		}
	})
}

// gofiber/fiber#3892, with the coarse clock that some servers cache.
func Test_B29_ACoarseClockReleasesToo(t *testing.T) {
	everywhere(t, 20, 30*time.Second, func(t *testing.T, s *scene) {
		coarse := func() time.Time { return s.now().Truncate(5 * time.Second) }
		s.Limiter = s.WithNow(coarse)
		for minute := range 5 {
			if n := s.asks(t, 60, time.Second); n < 30 {
				t.Errorf("minute %d: %d admitted, want about 40", minute, n)
			}
		}
	})
}

// labstack/echo PR2618: a stale entry refused a visitor who had been away.
func Test_B30_AVisitorWhoWasAwayIsNew(t *testing.T) {
	for _, p := range policies.OneOfEach(3, time.Minute) {
		c := newClock()
		own := newMemory(t, core.WithNow(c.now)) // it never sweeps: its clock moves within one second
		for name, l := range map[string]*core.Limiter{
			"own clock": newLimiter(t, own, p),
			"memory":    newLimiter(t, newMemory(t), p).WithNow(c.now),
			"redis":     newLimiter(t, stores["redis"](t), p).WithNow(c.now),
		} {
			reset := time.Duration(0)
			for range 4 {
				r := take(t, l, "k")
				reset = r.Decision(0).ResetAfter
			}
			c.advance(reset + time.Second)
			if r := take(t, l, "k"); !r.Allowed || remaining(r) != 2 {
				t.Errorf("%s, %s: allowed %v, %d remain", name, p.Name, r.Allowed, remaining(r))
			}
		}
	}
}

// go-chi/httprate#2, mholt/caddy-ratelimit#24: parallel requests all read the old
// count.
func Test_B116_AThousandAtOnce(t *testing.T) {
	everywhere(t, 25, time.Hour, func(t *testing.T, s *scene) {
		var admitted atomic.Int64
		atOnce(1000, func(int) {
			r, err := s.Take(ctx, "k")
			if err != nil {
				t.Error(err)
			}
			if r.Allowed {
				admitted.Add(1)
			}
		})
		if n := admitted.Load(); n != 25 {
			t.Errorf("%d of 1000 admitted at a limit of 25", n)
		}
	})
}

// go-chi/httprate#2: limiters of one policy and of several ask one store at once, and
// share its calls.
func Test_B116_LimitersOfOneAndOfSeveralPolicies(t *testing.T) {
	year := 366 * 24 * time.Hour
	for _, p := range policies.OneOfEach(20, year) {
		onStores(t, func(t *testing.T, store core.Store) {
			one := newLimiter(t, store, p)
			two := newLimiter(t, store, closed(core.Per(100_000, year).Named("q")), closed(core.Per(100_000, year).FixedWindow().Named("r")))
			var admitted [10]atomic.Int64
			atOnce(40, func(i int) {
				for n := i; n < i+100; n++ {
					if i%2 == 0 {
						take(t, two, fmt.Sprint("q", n%7), "r")
					} else if r := take(t, one, fmt.Sprint("k", n%len(admitted))); r.Allowed {
						admitted[n%len(admitted)].Add(1)
					}
				}
			})
			for key := range admitted {
				if n := admitted[key].Load(); n != 20 {
					t.Errorf("%s, key %d: %d of 200 admitted at a limit of 20", p.Name, key, n)
				}
			}
		})
	}
}
