package reliability

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

// operation is what one goroutine did with the only key of a history. In a period so
// long that nothing comes back, all algorithms have one model: the units used.
type operation struct {
	kind      kind
	from, to  int64 // it took effect between them, nanoseconds
	cost      int64
	allowed   bool
	remaining int64
}

type kind int

const (
	takes   kind = iota
	refunds      // of what was charged
	unknown      // a take without an answer: it took effect at any time from then on, or never
	lost         // the server was killed: it has forgotten
)

const capacity = 8

// history is at most 64 operations.
type history []operation

// reached is a point of the search: which operations are done, and what is used.
type reached struct {
	done uint64
	used int64
}

// isLinear reports whether the operations can be put in an order that agrees with
// their times, and in which the model gives each its answer.
func (h history) isLinear() bool { return h.search(reached{}, map[reached]bool{}) }

func (h history) search(at reached, seen map[reached]bool) bool {
	if seen[at] {
		return false
	}
	seen[at] = true
	end, open := int64(math.MaxInt64), false
	for i := range h {
		if at.done>>i&1 == 0 && h[i].kind != unknown {
			end, open = min(end, h[i].to), true
		}
	}
	if !open {
		return true
	}
	for i := range h {
		if at.done>>i&1 == 1 || h[i].from > end { // another was over before it began
			continue
		}
		if used, agrees := h[i].apply(at.used); agrees && h.search(reached{at.done | 1<<i, used}, seen) {
			return true
		}
	}
	return false
}

// apply gives what is used then, and whether the model agrees with the answer.
func (o *operation) apply(used int64) (int64, bool) {
	fits := used+o.cost <= capacity
	switch {
	case o.kind == lost:
		return 0, true
	case o.kind == refunds:
		return used - o.cost, used >= o.cost
	case o.kind == unknown && !fits:
		return used, true
	case o.kind == unknown:
		return used + o.cost, true
	}
	if fits {
		used += o.cost
	}
	return used, o.allowed == fits && o.remaining == capacity-used
}

func TestTheCheckerKnowsWhatIsNotLinear(t *testing.T) {
	for name, c := range map[string]struct {
		history
		linear bool
	}{
		"one after the other":       {history{{takes, 0, 1, 8, true, 0}, {takes, 2, 3, 1, false, 0}}, true},
		"at once, in another order": {history{{takes, 0, 9, 1, false, 0}, {takes, 1, 8, 8, true, 0}}, true},
		"both are admitted":         {history{{takes, 0, 9, 8, true, 0}, {takes, 1, 8, 8, true, 0}}, false},
		"an old answer":             {history{{takes, 0, 1, 3, true, 5}, {takes, 2, 3, 0, true, 8}}, false},
		"refused out of nothing":    {history{{takes, 0, 1, 3, true, 5}, {takes, 2, 3, 1, false, 5}}, false},
		"a refund":                  {history{{takes, 0, 1, 8, true, 0}, {refunds, 2, 3, 8, false, 0}, {takes, 4, 5, 8, true, 0}}, true},
		"unknown, executed late":    {history{{unknown, 0, 1, 8, false, 0}, {takes, 2, 3, 0, true, 8}, {takes, 4, 5, 0, true, 0}}, true},
		"unknown, executed twice":   {history{{unknown, 0, 1, 4, false, 0}, {takes, 4, 5, 0, true, 0}}, false},
		"killed":                    {history{{takes, 0, 1, 8, true, 0}, {lost, 2, 3, 0, false, 0}, {takes, 4, 5, 8, true, 0}}, true},
		"forgotten for no reason":   {history{{takes, 0, 1, 8, true, 0}, {takes, 4, 5, 8, true, 0}}, false},
	} {
		if c.isLinear() != c.linear {
			t.Errorf("%s: linear is %v", name, !c.linear)
		}
	}
}

// recorder makes a history of what several goroutines do.
type recorder struct {
	mu      sync.Mutex
	history history // protected by mu
	began   time.Time
}

func (r *recorder) now() int64 { return int64(time.Since(r.began)) }

func (r *recorder) add(o operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = append(r.history, o)
}

// act does a few things with a key.
func (r *recorder) act(t *testing.T, l *core.Limiter, key string, refunding bool) {
	for range 7 {
		o := operation{from: r.now(), cost: rand.Int64N(4)}
		result, err := l.TakeN(ctx, o.cost, key)
		o.to = r.now()
		if err != nil {
			o.kind = unknown
			r.add(o)
			time.Sleep(20 * time.Millisecond)
			continue
		}
		o.allowed, o.remaining = result.Allowed, result.Decision(0).Remaining
		r.add(o)
		if refunding && result.Decision(0).Charged > 0 && rand.IntN(3) == 0 {
			o := operation{kind: refunds, from: r.now(), cost: result.Decision(0).Charged}
			if err := l.Refund(ctx, &result); err != nil {
				t.Error(err)
			}
			o.to = r.now()
			r.add(o)
		}
	}
}

// record has five goroutines act at once, through all limiters.
func record(t *testing.T, limiters []*core.Limiter, key string, refunding bool, meanwhile func(*recorder)) history {
	r := &recorder{began: time.Now()}
	var done sync.WaitGroup
	for i := range 5 {
		done.Go(func() { r.act(t, limiters[i%len(limiters)], key, refunding) })
	}
	meanwhile(r)
	done.Wait()
	if len(r.history) > 64 {
		r.history = nil // longer than the search can hold: five times seven, and every one refunded
	}
	return r.history
}

// linearPolicies are of each algorithm. A queue gives back its last turn only, so the
// leaky bucket polices.
func linearPolicies() []core.Policy {
	all := oneOfEach(capacity, long)
	all[len(all)-1] = all[len(all)-1].Policing()
	return all
}

// Concurrent histories of every algorithm, in both stores, are those of one decision
// after the other.
func TestHistoriesAreLinear(t *testing.T) {
	own := redistest.Start(t)
	memory := core.NewMemory()
	defer memory.Close()
	for name, stores := range map[string][]core.Store{
		"memory": {memory},
		"redis":  {newStore(t, own.Client()), newStore(t, redis.NewClient(&redis.Options{Addr: own.Addr(), ContextTimeoutEnabled: true}))},
	} {
		for _, p := range linearPolicies() {
			t.Run(name+" "+p.Name, func(t *testing.T) {
				var limiters []*core.Limiter
				for _, store := range stores {
					limiters = append(limiters, newLimiter(t, store, p))
				}
				for i := range int64(60) {
					if h := record(t, limiters, keyOf(i), true, func(*recorder) {}); !h.isLinear() {
						t.Fatalf("no order explains %+v", h)
					}
				}
			})
		}
	}
}

// With the server killed and started again in between, what was counted is lost once,
// and nothing else happens.
func TestHistoriesAreLinearButForACrash(t *testing.T) {
	own := redistest.Start(t)
	for _, p := range linearPolicies() {
		t.Run(p.Name, func(t *testing.T) {
			l := newLimiter(t, newStore(t, own.Client(), redisstore.Timeout(100*time.Millisecond)), p)
			for i := range int64(5) {
				eventually(t, "it answers", patience, func() bool { _, err := l.Take(ctx, "other"); return err == nil })
				h := record(t, []*core.Limiter{l}, keyOf(i), false, func(r *recorder) {
					time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
					crash := operation{kind: lost, from: r.now()}
					own.Restart()
					crash.to = r.now()
					r.add(crash)
				})
				if !h.isLinear() {
					t.Fatalf("no order explains %+v", h)
				}
			}
		})
	}
}
