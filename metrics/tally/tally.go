package tally

import (
	"hash/maphash"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

// Options are choices for [New]. The zero Options is the default.
type Options struct {
	// Logger is told, once, that a policy has too many keys. Nil: [slog.Default].
	Logger *slog.Logger
	// OnMinute is told the share of refusals, 0 to 1, of each client of the most
	// refused that has asked in the minute that has just ended. Nil: nobody is.
	OnMinute func(policy string, share float64)
}

// Tally counts. It is a [pipeline.Observer], of as many middlewares as one likes;
// it is made by [New] and safe for concurrent use.
type Tally struct {
	options Options
	seed    maphash.Seed

	near   [nearSlots]atomic.Pointer[series] // what a glance finds of series
	series atomic.Pointer[map[place]*series] // copied on each addition
	stores atomic.Pointer[[]core.Store]      // likewise
	mu     sync.Mutex                        // guards additions to both
	byName sync.Map                          // policy name -> *policy
	known  atomic.Int64                      // entries of byName

	failed, denied atomic.Int64
	held, answered *Histogram
	errors         sync.Map // kind -> *atomic.Int64
	advice         sync.Map // pipeline.Advice -> *atomic.Int64

	busy, armed atomic.Bool // of the minute's timer
	minutes     atomic.Int64
}

// place is where a decision is counted.
type place struct{ policy, route string }

// New makes a Tally with nothing counted. It starts nothing before it is used.
func New(o Options) *Tally {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	t := &Tally{options: o, seed: maphash.MakeSeed(), held: durations(), answered: durations()}
	t.series.Store(&map[place]*series{})
	t.stores.Store(&[]core.Store{})
	t.errors.Store("timeout", new(atomic.Int64)) // so that a first error shows as a rise
	return t
}

// Decided implements [pipeline.Observer].
func (t *Tally) Decided(route string, r *core.Result, outcome pipeline.Outcome, held time.Duration) {
	if !t.busy.Load() {
		t.wake()
	}
	if held > 0 {
		t.held.observe(held.Seconds())
	}
	switch outcome {
	case pipeline.Failed:
		t.failed.Add(1)
	case pipeline.Denied:
		t.denied.Add(1)
	default:
		for i := range r.Len() {
			t.count(route, r, i, held)
		}
	}
}

// count counts what one policy has decided. One that was left out or not asked, or
// whose limit for this request is none, has decided nothing.
func (t *Tally) count(route string, r *core.Result, i int, held time.Duration) {
	a := r.Ask(i)
	if a.Unasked || a.Terms.Limit.IsUnlimited() {
		return
	}
	s := t.nearAt(place{a.Terms.Policy, route})
	p := s.of
	s.results[p.kind(a, held)].Add(1)
	hash := maphash.String(t.seed, a.Key) | 1 // 0 is a free slot's
	p.seen.add(hash)
	p.clients.note(hash, a.Key, !a.Allowed)
	if a.Allowed && a.Terms.Capacity > 0 {
		p.remaining.observe(float64(a.Remaining) / float64(a.Terms.Capacity))
	}
}

// kind is what a decision means for the request.
func (p *policy) kind(a *core.Ask, held time.Duration) Kind {
	switch {
	case a.Allowed && held > 0:
		return Held
	case a.Allowed:
		return Admitted
	case a.Terms.DryRun && p.degrades.Load():
		return Degraded
	case a.Terms.DryRun:
		return DryRunRefused
	case a.Never:
		return Never
	}
	return Refused
}

// StoreAnswered implements [pipeline.Observer].
func (t *Tally) StoreAnswered(took time.Duration, err error) {
	t.answered.observe(took.Seconds())
	if err != nil {
		add(&t.errors, t.kindOf(err))
	}
}

// Mounted implements [pipeline.MountObserver]: the stores and the policies that
// degrade become known.
func (t *Tally) Mounted(m pipeline.Mount) {
	for _, p := range m.Policies {
		if p.OnExcess == core.Degrade && !p.DryRun {
			t.policyOf(p.DisplayName()).degrades.Store(true)
		}
	}
	t.Watch(m.Store)
}

// Advised implements [pipeline.AdviceObserver].
func (t *Tally) Advised(advice pipeline.Advice) { add(&t.advice, advice) }

// add counts one under a key of a few.
func add(counts *sync.Map, key any) {
	n, ok := counts.Load(key)
	if !ok {
		n, _ = counts.LoadOrStore(key, new(atomic.Int64))
	}
	n.(*atomic.Int64).Add(1)
}
