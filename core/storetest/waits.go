package storetest

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// waitIsTrue fills keys in many phases, and wants the refused request admitted at
// RetryAfter and refused one tick earlier.
func waitIsTrue(t *testing.T, store core.Store) {
	all := samples()
	for _, p := range all {
		t.Run(p.Name, func(t *testing.T) { waitsAreTrue(t, store, p) })
	}
	for i := range all {
		p, q := all[i], all[(i+5)%len(all)]
		t.Run(p.Name+"+"+q.Name, func(t *testing.T) { waitsAreTrue(t, store, p, q) })
	}
}

func waitsAreTrue(t *testing.T, store core.Store, policies ...core.Policy) {
	s := newScene(t, store, policies...)
	random := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for phase := range 12 {
		s.us = start + random.Int64N(1e10)
		keys := keysOf(policies, fmt.Sprint("wait", phase))
		cost, tick := costAndTick(t, random, policies)
		for range 400 {
			r := s.take(t, cost, keys...)
			if !r.Allowed && !r.Never {
				refused++
				s.checkWait(t, r, cost, tick, keys)
				break
			}
			s.us += random.Int64N(2000)
		}
	}
	if refused == 0 {
		t.Fatal("nothing was ever refused: this test shows nothing")
	}
}

// checkWait asks one tick early by a peek that does not count (the request itself,
// refused), then on time.
func (s *scene) checkWait(t *testing.T, r core.Result, cost, tick int64, keys []string) {
	t.Helper()
	asked := s.us
	if r.RetryAfter <= 0 {
		t.Fatalf("refused with a wait of %v", r.RetryAfter)
	}
	s.us = asked + r.RetryAfter.Microseconds() - tick
	if early := s.take(t, cost, keys...); early.Allowed {
		t.Fatalf("told to wait %v, admitted a tick of %d us earlier", r.RetryAfter, tick)
	}
	s.us = asked + r.RetryAfter.Microseconds()
	if then := s.take(t, cost, keys...); !then.Allowed {
		t.Fatalf("told to wait %v, refused then (for %v more)", r.RetryAfter, then.RetryAfter)
	}
}

// costAndTick is a cost that fits all policies and takes a few to fill one, and
// the coarsest tick among them.
func costAndTick(t *testing.T, random *rand.Rand, policies []core.Policy) (cost, tick int64) {
	smallest := int64(1 << 40)
	for _, p := range policies {
		terms, err := p.Terms(p.Limit)
		if err != nil {
			t.Fatal(err)
		}
		smallest, tick = min(smallest, terms.Capacity), max(tick, terms.Tick)
	}
	if smallest < 100 {
		return 1 + random.Int64N(3), tick
	}
	return smallest/20 + random.Int64N(smallest/20), tick
}

func keysOf(policies []core.Policy, prefix string) []string {
	keys := make([]string, len(policies))
	for i, p := range policies {
		keys[i] = prefix + "/" + p.Name
	}
	return keys
}

// absence compares a key whose reset has passed with one never seen.
func absence(t *testing.T, store core.Store) {
	for _, p := range samples() {
		t.Run(p.Name, func(t *testing.T) {
			s := newScene(t, store, p)
			terms, _ := p.Terms(p.Limit)
			s.us = start + 123_456
			var r core.Result
			for range 3 {
				r = s.take(t, 1+terms.Capacity/4, "absence/used")
			}
			reset := r.Decision(0).ResetAfter
			if reset <= 0 {
				t.Fatalf("used, and resets after %v", reset)
			}
			s.us += (reset - time.Duration(terms.Tick)*time.Microsecond).Microseconds()
			if before := s.take(t, 0, "absence/used"); before.Decision(0).ResetAfter <= 0 {
				t.Fatal("as if never seen before its reset has passed")
			}
			s.us += terms.Tick
			used, fresh := s.take(t, 1, "absence/used"), s.take(t, 1, "absence/fresh")
			if used.Decision(0) != fresh.Decision(0) {
				t.Fatalf("after its reset a key meets\n%+v, one never seen\n%+v", used.Decision(0), fresh.Decision(0))
			}
		})
	}
}

// refusalIsFree lets refusals, peeks and costs that never fit rain on a key beside
// one that is left alone.
func refusalIsFree(t *testing.T, store core.Store) {
	for _, p := range samples() {
		t.Run(p.Name, func(t *testing.T) {
			s := newScene(t, store, p)
			terms, _ := p.Terms(p.Limit)
			for range 2 {
				s.take(t, terms.Capacity/2, "free/pestered")
				s.take(t, terms.Capacity/2, "free/quiet")
			}
			for i := range int64(30) {
				s.us++
				if s.take(t, terms.Capacity, "free/pestered").Allowed {
					t.Fatal("a full capacity fits beside a used one")
				}
				s.take(t, terms.Capacity+1+i, "free/pestered")
				s.take(t, 0, "free/pestered")
			}
			pestered, quiet := s.take(t, 1, "free/pestered"), s.take(t, 1, "free/quiet")
			if pestered.Decision(0) != quiet.Decision(0) {
				t.Fatalf("refusals cost something:\n%+v, left alone\n%+v", pestered.Decision(0), quiet.Decision(0))
			}
		})
	}
}
