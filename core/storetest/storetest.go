// Package storetest is the suite that every [core.Store] must pass. It replays
// worked decisions to the microsecond, compares the store with the embedded one on
// random traffic, and checks that waits are true, refusals free, composites all or
// nothing, and counts exact under concurrency.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t testing.TB) core.Store { return mystore.New(...) })
//	}
package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// Open makes an empty store for one test, and has it closed at the test's end.
type Open func(t testing.TB) core.Store

// Run runs the whole suite. Nearly all of it passes the time in, so that it takes
// seconds.
func Run(t *testing.T, open Open) {
	t.Run("vectors", func(t *testing.T) { vectors(t, open(t)) })
	t.Run("agrees with memory", func(t *testing.T) { agrees(t, open(t)) })
	t.Run("the wait is true", func(t *testing.T) { waitIsTrue(t, open(t)) })
	t.Run("absence of an expired key changes nothing", func(t *testing.T) { absence(t, open(t)) })
	t.Run("a refusal costs nothing", func(t *testing.T) { refusalIsFree(t, open(t)) })
	t.Run("keys", func(t *testing.T) { keys(t, open(t)) })
	t.Run("exact under concurrency", func(t *testing.T) { concurrent(t, open(t)) })
}

// start is the time at which the suite's clocks begin, in microseconds.
const start = int64(1_700_000_000_000_000)

// clock is a time that a test moves.
type clock struct{ us int64 }

func (c *clock) now() time.Time { return time.UnixMicro(c.us) }

// scene is a limiter over the store under test, with a clock of its own.
type scene struct {
	*core.Limiter
	clock
}

func newScene(t testing.TB, store core.Store, policies ...core.Policy) *scene {
	t.Helper()
	limiter, err := core.NewLimiter(store, policies...)
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{clock: clock{start}}
	s.Limiter = limiter.WithNow(s.now)
	return s
}

func (s *scene) take(t testing.TB, cost int64, keys ...string) core.Result {
	t.Helper()
	r, err := s.TakeN(context.Background(), cost, keys...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// samples are policies of all five algorithms: the usual, the odd and the
// extreme.
func samples() []core.Policy {
	second, day := time.Second, 24*time.Hour
	return []core.Policy{
		core.Per(5, 10*second).FixedWindow().Named("fixed"),
		core.Per(7, 3*second).FixedWindow().Named("fixed-odd"),
		core.Per(5, 10*second).SlidingWindowLog().Named("log"),
		core.Per(3, time.Millisecond).SlidingWindowLog().Named("log-short"),
		core.Per(1000, 366*day).SlidingWindowLog().Named("log-long"),
		core.Per(5, 10*second).Named("counter"),
		core.Per(12, 10*second).SlidingWindowCounter(10).Named("counter-10"),
		core.Per(1_000_000_000, day).SlidingWindowCounter(4).Named("counter-huge"),
		core.Per(5, 10*second).TokenBucket(5).Named("token"),
		core.Per(7, 3*second).TokenBucket(11).Named("token-odd"),
		core.Per(1000, day).TokenBucket(1_000_000).Named("token-milliseconds"),
		core.Per(10, second).LeakyBucket(5).Named("leaky"),
		core.Per(7, 3*second).LeakyBucket(9).WaitingAtMost(700 * time.Millisecond).Named("leaky-impatient"),
		core.Per(5, 10*second).LeakyBucket(8).Policing().Named("leaky-police"),
	}
}
