package storetest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// keys are hostile: each is a budget of its own, whatever its bytes.
func keys(t *testing.T, store core.Store) {
	huge := strings.Repeat("k", 1<<20)
	hostile := []string{
		"", " ", "\x00", "\x00\x00", "a", "a:b", "a:", ":a", "{", "}", "{}", "}{", "{a}", "{a}b", "a{b}c{d}", "{{a}}",
		"#", "*", "%", "\n", "\r\n", "\xff\xfe", "é", "e\u0301", "key with spaces", `"quoted"`, `\`, "0", "-1", "nil",
		huge, huge + "1", huge + "2", strings.Repeat("\x00", 100_000), strings.Repeat("{", 65), strings.Repeat("a", 64), strings.Repeat("a", 65),
	}
	for _, p := range samples() {
		s := newScene(t, store, p)
		terms, _ := p.Terms(p.Limit)
		for _, key := range hostile {
			r := s.take(t, terms.Capacity, key)
			if !r.Allowed {
				t.Fatalf("%s: key %.20q of %d bytes shares its budget with an earlier one", p.Name, key, len(key))
			}
			if s.take(t, terms.Capacity, key).Allowed {
				t.Fatalf("%s: key %.20q of %d bytes is not limited", p.Name, key, len(key))
			}
		}
	}
	twoPolicies(t, store)
	badRequests(t, store)
}

// twoPolicies of one key share nothing, whatever their names; one policy over two
// limiters shares all.
func twoPolicies(t *testing.T, store core.Store) {
	for _, name := range []string{"x", "x:y", "x:c", "x/2"} {
		for range 2 {
			s := newScene(t, store, core.Per(2, time.Minute).Named(name))
			s.take(t, 1, "y:shared")
		}
		s := newScene(t, store, core.Per(2, time.Minute).Named(name))
		if s.take(t, 1, "y:shared").Allowed {
			t.Fatalf("policy %q: three limiters over one store admitted three of two", name)
		}
	}
}

func badRequests(t *testing.T, store core.Store) {
	s := newScene(t, store, core.PerMinute(2).Named("bad"))
	for _, cost := range []int64{-1, -1 << 63} {
		if _, err := s.TakeN(context.Background(), cost, "k"); !errors.Is(err, core.ErrNegativeCost) {
			t.Fatalf("a cost of %d: %v", cost, err)
		}
	}
	if r := s.take(t, 1<<63-1, "k"); r.Allowed || !r.Never {
		t.Fatalf("the largest cost: %+v", r)
	}
	if r := s.take(t, 1, "k"); r.Decision(0).Remaining != 1 {
		t.Fatalf("bad requests have charged something: %+v", r.Decision(0))
	}
}

// concurrent asks from 150 goroutines at once at limits of 100, on the store's own
// clock.
func concurrent(t *testing.T, store core.Store) {
	hour := time.Hour
	for _, p := range []core.Policy{
		core.Per(100, hour).FixedWindow().Named("crowd-fixed"),
		core.Per(100, hour).SlidingWindowLog().Named("crowd-log"),
		core.Per(100, hour).Named("crowd-counter"),
		core.Per(100, 240*hour).TokenBucket(100).Named("crowd-token"),
		core.Per(100, 240*hour).LeakyBucket(100).Named("crowd-leaky"),
	} {
		t.Run(p.Name, func(t *testing.T) {
			limiter, err := core.NewLimiter(store, p, core.PerMinute(10_000).Named("crowd-beside"))
			if err != nil {
				t.Fatal(err)
			}
			admitted := crowd(t, limiter, 150, "k", p.Name)
			// A boundary of the fixed window may pass in between.
			if admitted != 100 && !(p.Algorithm == core.FixedWindow && admitted == 150) {
				t.Errorf("%d of 150 admitted at a limit of 100", admitted)
			}
			r, err := limiter.Peek(context.Background(), "k", p.Name)
			if err != nil {
				t.Fatal(err)
			}
			if used := 10_000 - r.Decision(1).Remaining; used != int64(admitted) {
				t.Errorf("%d admitted, and %d charged to the policy beside", admitted, used)
			}
		})
	}
}

// crowd asks from so many goroutines at once, and counts who is admitted.
func crowd(t *testing.T, limiter *core.Limiter, size int, keys ...string) int {
	var admitted atomic.Int64
	var ready, done sync.WaitGroup
	gate := make(chan struct{})
	ready.Add(size)
	done.Add(size)
	for range size {
		go func() {
			defer done.Done()
			ready.Done()
			<-gate
			r, err := limiter.Take(context.Background(), keys...)
			if err != nil {
				t.Error(err)
			}
			if r.Allowed {
				admitted.Add(1)
			}
		}()
	}
	ready.Wait()
	close(gate)
	done.Wait()
	return int(admitted.Load())
}
