package cases_test

import (
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// mailgun/gubernator#118: the bucket emptied itself at the end of each duration.
func Test_B08_ALeakyBucketDoesNotEmptyAtOnce(t *testing.T) {
	onStores(t, func(t *testing.T, store core.Store) {
		s := newScene(t, store, closed(core.PerSecond(3).LeakyBucket(3).Named("leaky")))
		admitted := 0
		for i := range 50 {
			r := s.ask(t)
			if r.Allowed {
				admitted++
			}
			if i > 2 && remaining(r) > 0 {
				t.Fatalf("request %d: %d remain under constant load", i+1, remaining(r))
			}
			s.advance(100 * time.Millisecond)
		}
		if admitted < 17 || admitted > 18 {
			t.Errorf("%d admitted in 5 s, want 3 + 3 a second", admitted)
		}
	})
}

// mailgun/gubernator#77: hits that came faster than the leak kept it from leaking.
func Test_B09_LeaksWhateverTheSpacing(t *testing.T) {
	for _, spacing := range []time.Duration{time.Second, 100 * time.Millisecond, 7 * time.Millisecond} {
		for _, p := range []core.Policy{core.Per(10, 30*time.Second).LeakyBucket(10).Named("leaky"), core.Per(10, 30*time.Second).TokenBucket(10).Named("token")} {
			onStores(t, func(t *testing.T, store core.Store) {
				s := newScene(t, store, closed(p))
				hits := int(30*time.Second/spacing) + 1
				if n := s.asks(t, hits, spacing); n != 19 && n != 20 {
					t.Errorf("%s, a hit every %v: %d admitted in 30 s, want 10 + one every 3 s", p.Name, spacing, n)
				}
			})
		}
	}
}

// mailgun/gubernator PR87: more remained than the limit.
func Test_B11_RemainingNeverPassesTheLimit(t *testing.T) {
	everywhere(t, 7, 10*time.Second, func(t *testing.T, s *scene) {
		s.ask(t)
		for _, periods := range []time.Duration{10, 1000, 1_000_000} {
			s.advance(periods * 10 * time.Second)
			if r := s.ask(t); remaining(r) != 6 {
				t.Errorf("after %d idle windows %d of 7 remain, want 6", periods, remaining(r))
			}
		}
	})
}

// sethvargo/go-limiter#29: high rates lost most of the bucket to whole fill rates.
func Test_B13_HighRatesLoseNothing(t *testing.T) {
	for _, count := range []int64{65_535, 1_000_000, 1_000_000_000} {
		limit := core.Limit{Count: count, Period: time.Second}
		for _, algorithm := range []core.Algorithm{core.TokenBucket, core.LeakyBucket, core.FixedWindow, core.SlidingWindowCounter} {
			p := closed(core.Policy{Name: algorithm.String(), Limit: limit, Algorithm: algorithm})
			onStores(t, func(t *testing.T, store core.Store) {
				s := newScene(t, store, p)
				for i := range 30 {
					if left := remaining(s.ask(t)); left < count-31 || left > count-1 {
						t.Fatalf("%s of %d/s: request %d leaves %d", p.Name, count, i+1, left)
					}
					s.advance(100 * time.Millisecond)
				}
			})
		}
	}
}

// go-redis/redis_rate#24, boinkor-net/governor#219: a full bucket admits its burst and
// the rate in its first period. That is what it is, and its doc comment says so.
func Test_B21_ABucketAdmitsItsBurstAndTheRate(t *testing.T) {
	onStores(t, func(t *testing.T, store core.Store) {
		s := newScene(t, store, closed(core.Per(17, 30*time.Second).TokenBucket(17).Named("token")))
		if n := s.asks(t, 60, 500*time.Millisecond); n < 33 || n > 34 {
			t.Errorf("%d admitted in 30 s, want 17 + 17", n)
		}
	})
}

// antifuchs/ratelimit_meter#36, bucket4j/bucket4j#88, Losant/redis-gcra#3: the wait
// ignored the burst, or the part of a token already earned.
func Test_B36_TheWaitIsNoLongerThanNeeded(t *testing.T) {
	for _, bucket := range []func(core.Policy, int64) core.Policy{core.Policy.TokenBucket, core.Policy.LeakyBucket} {
		onStores(t, func(t *testing.T, store core.Store) {
			s := newScene(t, store, closed(bucket(core.PerMinute(6), 6).Named("six")))
			s.asks(t, 6, 0)
			if r := s.ask(t); r.RetryAfter != 10*time.Second {
				t.Errorf("exhausted, told to wait %v, want 10s", r.RetryAfter)
			}
			one := newScene(t, store, closed(bucket(core.PerSecond(1), 1).Named("one")))
			one.ask(t)
			one.advance(200 * time.Millisecond)
			if r := one.ask(t); r.RetryAfter != 800*time.Millisecond {
				t.Errorf("with 0.2 of a unit there, told to wait %v, want 800ms", r.RetryAfter)
			}
		})
	}
}

// go-redis/redis_rate#92, throttled/throttled PR29, DataDog/draino PR15: rate and burst
// were taken for each other. Sequences worked out by hand.
func Test_B131_RateAndBurst(t *testing.T) {
	for _, c := range []struct {
		rate, burst int64 // a second
		times       []int // in tenths of a second
		admitted    string
	}{
		{1, 1, []int{0, 0, 5, 10, 19, 20}, "y n n y n y"},
		{1, 5, []int{0, 0, 0, 0, 0, 0, 10, 10, 30, 30, 30}, "y y y y y n y n y y n"},
		{5, 1, []int{0, 0, 1, 2, 3, 4}, "y n n y n y"},
		{10, 3, []int{0, 0, 0, 0, 1, 1, 3, 3, 3}, "y y y n y n y y n"},
	} {
		onStores(t, func(t *testing.T, store core.Store) {
			s := newScene(t, store, closed(core.PerSecond(c.rate).TokenBucket(c.burst).Named("token")))
			got := ""
			for _, tenths := range c.times {
				s.Time = start.Add(time.Duration(tenths) * 100 * time.Millisecond)
				got += map[bool]string{true: "y ", false: "n "}[s.ask(t).Allowed]
			}
			if got != c.admitted+" " {
				t.Errorf("%d/s burst %d: %s, want %s", c.rate, c.burst, got, c.admitted)
			}
		})
	}
	unset := core.Policy{Limit: core.Limit{Count: 5, Period: time.Second}, Algorithm: core.TokenBucket}
	s := newScene(t, newMemory(t), unset)
	if n := s.asks(t, 10, 0); n != 5 {
		t.Errorf("a burst that is not set admits %d at once, want the count", n)
	}
}

// openfoodfacts/openfoodfacts-infrastructure#304, limithit/ngx_dynamic_limit_req_module#22:
// a leaky bucket without a queue refused a page's own requests. A queue must be given
// here, none is the count, and the two modes say whether requests are delayed.
func Test_B132_ALeakyBucketHasAQueue(t *testing.T) {
	unset := core.Policy{Name: "unset", Limit: core.Limit{Count: 6000, Period: time.Minute}, Algorithm: core.LeakyBucket}
	for name, p := range map[string]core.Policy{"shape": unset, "police": core.PerMinute(6000).LeakyBucket(6000).Policing()} {
		s := newScene(t, newMemory(t), p)
		last := time.Duration(0)
		for i := range 150 {
			r := s.ask(t)
			if !r.Allowed {
				t.Fatalf("%s: request %d of a browser is refused", name, i+1)
			}
			last = r.Delay
			s.advance(333 * time.Microsecond)
		}
		if delays := last > time.Second; delays != (name == "shape") {
			t.Errorf("%s: the last request waits %v", name, last)
		}
	}
}
