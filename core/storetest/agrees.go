package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// agrees runs random traffic on the store under test and on a fresh embedded one
// at the same times, and wants every field of every result to be equal.
func agrees(t *testing.T, store core.Store) {
	const walks, steps = 60, 80
	seed := rand.Uint64()
	checked := 0
	for walk := range uint64(walks) {
		random := rand.New(rand.NewPCG(seed, walk))
		w := newWalk(t, random, store, fmt.Sprintf("%x/%d/", seed, walk))
		for step := range steps {
			if err := w.step(); err != nil {
				t.Fatalf("seed %x, walk %d, step %d of %v: %v", seed, walk, step, w.policies, err)
			}
			checked++
		}
	}
	t.Logf("seed %x: %d steps agree", seed, checked)
}

// walk is one random walk over both stores.
type walk struct {
	*rand.Rand
	policies []core.Policy
	limits   []core.Limit
	prefix   string
	clock
	tested, embedded *core.Limiter
	results          [2][]core.Result
}

func newWalk(t *testing.T, random *rand.Rand, store core.Store, prefix string) *walk {
	w := &walk{Rand: random, prefix: prefix, clock: clock{start + random.Int64N(1e12)}}
	all := samples()
	for i := range 1 + w.IntN(3) {
		p := all[w.IntN(len(all))]
		p.Name = fmt.Sprint("p", i)
		p.DryRun = w.IntN(6) == 0
		w.policies = append(w.policies, p)
		w.limits = append(w.limits, p.Limit)
	}
	memory := core.NewMemory()
	t.Cleanup(func() { memory.Close() })
	w.tested = newScene(t, store, w.policies...).Limiter.WithNow(w.now)
	w.embedded = newScene(t, memory, w.policies...).Limiter.WithNow(w.now)
	return w
}

// step advances the clock and does one thing on both stores.
func (w *walk) step() error {
	w.tick()
	switch n := w.IntN(20); {
	case n < 14:
		return w.request()
	case n < 15:
		return w.settle(func(l *core.Limiter, r *core.Result) error { return l.Refund(context.Background(), r) })
	case n < 17:
		actual := w.Int64N(4 * w.limits[0].Count)
		return w.settle(func(l *core.Limiter, r *core.Result) error { return l.Settle(context.Background(), r, actual) })
	case n < 18:
		return w.block()
	case n < 19:
		i := w.IntN(len(w.policies))
		w.limits[i] = w.changed(w.policies[i])
		return nil
	}
	key := w.key(0)
	return w.both(func(l *core.Limiter) error { return l.Reset(context.Background(), w.policies[0].Name, key) })
}

// tick moves the clock: not at all, a little, to the edge of a period, a lot, or
// back.
func (w *walk) tick() {
	period := w.policies[w.IntN(len(w.policies))].Limit.Period.Microseconds()
	switch w.IntN(10) {
	case 0, 1, 2:
	case 3, 4, 5:
		w.us += w.Int64N(period/5 + 2)
	case 6:
		w.us += period - w.us%period - w.Int64N(2)
	case 7:
		w.us += w.Int64N(3 * period)
	case 8:
		w.us -= w.Int64N(period)
	case 9:
		w.us += 1
	}
}

func (w *walk) key(i int) string { return fmt.Sprint(w.prefix, i, "/", w.IntN(2)) }

func (w *walk) cost(i int) int64 {
	capacity := max(w.limits[i].Count, w.limits[i].Burst)
	switch w.IntN(8) {
	case 0:
		return 0
	case 1:
		return w.Int64N(min(capacity, 100_000) + 2)
	case 2:
		return min(capacity, 100_000)
	}
	return 1 + w.Int64N(max(1, min(capacity, 100_000)/4))
}

func (w *walk) request() error {
	units := make([]core.Units, len(w.policies))
	for i := range units {
		units[i] = core.Units{Key: w.key(i), Cost: w.cost(i), Limit: w.limits[i]}
	}
	var got [2]core.Result
	for i, l := range []*core.Limiter{w.tested, w.embedded} {
		r, err := l.Decide(context.Background(), units)
		if err != nil {
			return err
		}
		got[i] = r
		w.results[i] = append(w.results[i], r)
	}
	if a, b := summary(&got[0]), summary(&got[1]); !reflect.DeepEqual(a, b) {
		return fmt.Errorf("at %d, %+v:\n  got      %+v\n  embedded %+v", w.us, units, a, b)
	}
	return nil
}

func summary(r *core.Result) []any {
	return []any{r.Allowed, r.Never, r.RetryAfter, r.Delay, r.Binding, r.Decisions()}
}

func (w *walk) settle(act func(*core.Limiter, *core.Result) error) error {
	if len(w.results[0]) == 0 {
		return nil
	}
	i := len(w.results[0]) - 1 - w.IntN(min(5, len(w.results[0])))
	if err := act(w.tested, &w.results[0][i]); err != nil {
		return err
	}
	return act(w.embedded, &w.results[1][i])
}

func (w *walk) block() error {
	i, length := w.IntN(len(w.policies)), time.Duration(0)
	if w.IntN(3) > 0 {
		length = time.Duration(w.Int64N(w.policies[i].Limit.Period.Microseconds())) * time.Microsecond
	}
	key := w.key(i)
	return w.both(func(l *core.Limiter) error {
		return l.Block(context.Background(), w.policies[i].Name, key, length)
	})
}

func (w *walk) both(act func(*core.Limiter) error) error {
	if err := act(w.tested); err != nil {
		return err
	}
	return act(w.embedded)
}

// changed is another legal limit for a policy: of the same period, since another
// period starts anew, which a test of its own covers.
func (w *walk) changed(p core.Policy) core.Limit {
	for {
		l := p.Limit
		l.Count = 1 + w.Int64N(1<<w.IntN(20))
		if p.Limit.Burst > 0 {
			l.Burst = 1 + w.Int64N(2*p.Limit.Burst)
		}
		if _, err := p.Terms(l); err == nil {
			return l
		}
	}
}
