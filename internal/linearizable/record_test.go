package linearizable

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
)

const (
	clients  = 5
	rounds   = 15 // of each client
	patience = time.Minute
)

var ctx = context.Background()

// recorder makes a history of what clients do at once.
type recorder struct {
	t       testing.TB
	terms   *core.Terms
	exact   bool         // the clients give the time
	mayFail bool         // there is a crash, of which nobody settles, refunds or resets
	clock   atomic.Int64 // what they give, microseconds
	began   time.Time

	mu      sync.Mutex
	history []porcupine.Operation // protected by mu
}

func newRecorder(t testing.TB, a *algorithm) *recorder {
	t.Helper()
	terms, err := a.Terms(a.Limit)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{t: t, terms: terms, exact: true, began: time.Now()}
	r.clock.Store(1_700_000_000_000_000)
	return r
}

// do records an operation. What was surely not sent is none; what has no answer may be
// done at any time from now on.
func (r *recorder) do(client int, in input, act func() (core.Answer, error)) output {
	o := porcupine.Operation{ClientId: client, Input: in, Call: int64(time.Since(r.began))}
	runtime.Gosched() // so that others act meanwhile
	answer, err := act()
	o.Return = int64(time.Since(r.began))
	out := output{known: err == nil, answer: answer}
	if err != nil && !r.mayFail {
		r.t.Error(err)
	}
	if errors.Is(err, redisstore.ErrAway) {
		return out
	}
	if err != nil {
		o.Return = math.MaxInt64
	}
	o.Output = out
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = append(r.history, o)
	return out
}

// now is the time that a client gives: mostly a little later than the last, sometimes
// earlier, by up to three periods.
func (r *recorder) now(random *rand.Rand) int64 {
	if !r.exact {
		return 0
	}
	period := r.terms.Period
	now := r.clock.Add(random.Int64N(period / 8))
	if random.IntN(8) == 0 {
		now -= random.Int64N(3 * period)
	}
	return now
}

// given is a time as stores take it: zero for their own.
func given(now int64) time.Time {
	if now == 0 {
		return time.Time{}
	}
	return time.UnixMicro(now)
}

// act is what one client does. Charges from before a crash are not corrected.
func (r *recorder) act(client int, store core.Store, keys []string, random *rand.Rand) {
	for range rounds {
		key := keys[random.IntN(len(keys))]
		ask := core.Ask{Terms: r.terms, Key: key, Cost: random.Int64N(4), LongestWait: -1}
		if random.IntN(16) == 0 {
			ask.Cost = capacity + 1 // never
		}
		out := r.take(client, store, ask, r.now(random))
		if !out.known {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		ask.Answer = out.answer
		if !r.mayFail && ask.Charged > 0 && random.IntN(3) == 0 {
			r.settle(client, store, ask, r.now(random), actualCost(random))
		}
		if !r.mayFail && r.exact && random.IntN(16) == 0 {
			r.do(client, input{kind: resets, key: key}, func() (core.Answer, error) {
				return core.Answer{}, store.Reset(ctx, r.terms, key)
			})
		}
	}
}

// actualCost is of a charge of one to three: mostly about that, sometimes all there is.
func actualCost(random *rand.Rand) int64 {
	if random.IntN(10) == 0 {
		return 2 * capacity
	}
	return random.Int64N(4)
}

func (r *recorder) take(client int, store core.Store, ask core.Ask, now int64) output {
	in := input{kind: takes, key: ask.Key, now: now, cost: ask.Cost}
	return r.do(client, in, func() (core.Answer, error) {
		asks := []core.Ask{ask}
		err := store.Take(ctx, given(now), asks)
		return asks[0].Answer, err
	})
}

func (r *recorder) settle(client int, store core.Store, ask core.Ask, now, actual int64) {
	if actual == ask.Charged {
		actual = 0
	}
	in := input{kind: settles, key: ask.Key, now: now, cost: actual, charge: ask.Answer}
	if !r.exact {
		in.charge.ChargedAt = 0
	}
	r.do(client, in, func() (core.Answer, error) {
		return core.Answer{}, store.Adjust(ctx, given(now), []core.Ask{ask}, []int64{actual})
	})
}

// record has the clients act at once, through all stores in turn.
func (r *recorder) record(stores []core.Store, keys []string, meanwhile func()) []porcupine.Operation {
	var done sync.WaitGroup
	for i := range clients {
		random := rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
		done.Go(func() { r.act(i, stores[i%len(stores)], keys, random) })
	}
	meanwhile()
	done.Wait()
	return r.history
}

// check fails where no order explains a history, or none is found in time.
func check(t *testing.T, model porcupine.Model, history []porcupine.Operation) {
	t.Helper()
	if result := porcupine.CheckOperationsTimeout(model, history, patience); result != porcupine.Ok {
		for _, o := range history {
			t.Logf("%d %d-%d: %s", o.ClientId, o.Call, o.Return, model.DescribeOperation(o.Input, o.Output))
		}
		t.Fatalf("%s: no order explains these %d operations", result, len(history))
	}
}
