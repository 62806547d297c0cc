package redisstore_test

import (
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

func mustTake(t *testing.T, l *core.Limiter, cost int64, keys ...string) core.Result {
	t.Helper()
	r, err := l.TakeN(ctx, cost, keys...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAClientWhoHammersAClosedLimitCostsTheServerOneCall(t *testing.T) {
	own := redistest.Start(t)
	store := newStore(t, own.Client(), redisstore.RememberRefusals(time.Minute))
	l := newLimiter(t, store, core.PerHour(2).TokenBucket(2).Named("closed"))
	for range 2 {
		mustTake(t, l, 1, "k")
	}
	before, first := evalshas(t, own.Client()), mustTake(t, l, 1, "k")
	for range 1000 {
		r := mustTake(t, l, 1, "k")
		if r.Allowed || r.RetryAfter > first.RetryAfter || r.RetryAfter < first.RetryAfter-time.Minute {
			t.Fatalf("first refused for %v, then %+v", first.RetryAfter, r)
		}
	}
	if calls := evalshas(t, own.Client()) - before; calls != 1 {
		t.Errorf("%d calls for 1001 refusals", calls)
	}
	if store.DenialHits() != 1000 {
		t.Errorf("%d hits", store.DenialHits())
	}
}

func TestOnlyWhatWasRefusedIsRemembered(t *testing.T) {
	store := newStore(t, server.Client(), redisstore.RememberRefusals(time.Minute))
	l := newLimiter(t, store, core.PerHour(10).TokenBucket(10).Named("p"))
	mustTake(t, l, 5, "k")
	if mustTake(t, l, 9, "k").Allowed {
		t.Fatal("nine fit beside five of ten")
	}
	if !mustTake(t, l, 1, "k").Allowed {
		t.Error("a refusal of nine refuses one")
	}
	if !mustTake(t, l, 9, "other").Allowed {
		t.Error("a refusal of a key refuses another")
	}
	if r := mustTake(t, l, 0, "k"); !r.Allowed {
		t.Error("a peek is refused")
	}
	raised, err := l.Decide(ctx, []core.Units{{Key: "k", Cost: 9, Limit: core.Limit{Count: 10, Period: time.Hour, Burst: 50}}})
	if err != nil || !raised.Allowed {
		t.Errorf("a raised limit: %+v, %v", raised, err)
	}
}

func TestWhatThisInstanceChangesShowsAtOnce(t *testing.T) {
	store := newStore(t, server.Client(), redisstore.RememberRefusals(time.Minute))
	l := newLimiter(t, store, core.PerHour(1).FixedWindow().Named("p"))
	exhaust := func(key string) core.Result {
		r := mustTake(t, l, 1, key)
		for range 2 {
			if mustTake(t, l, 1, key).Allowed {
				t.Fatal("two of one")
			}
		}
		return r
	}
	r := exhaust("refunded")
	if err := l.Refund(ctx, &r); err != nil || !mustTake(t, l, 1, "refunded").Allowed {
		t.Errorf("a refund does not show (%v)", err)
	}
	exhaust("reset")
	if err := l.Reset(ctx, "p", "reset"); err != nil || !mustTake(t, l, 1, "reset").Allowed {
		t.Errorf("a reset does not show (%v)", err)
	}
	if err := l.Block(ctx, "p", "blocked", time.Hour); err != nil || mustTake(t, l, 1, "blocked").Allowed {
		t.Errorf("a block does not show (%v)", err)
	}
	other := newStoreLike(t, store)
	if err := newLimiter(t, other, core.PerHour(1).FixedWindow().Named("p")).Block(ctx, "p", "blocked", 0); err != nil {
		t.Fatal(err)
	}
	if !mustTake(t, l, 1, "blocked").Allowed {
		t.Error("a block that another instance has lifted is remembered")
	}
}

func TestPoliciesBesideARememberedRefusalAreUnasked(t *testing.T) {
	store := newStore(t, server.Client(), redisstore.RememberRefusals(time.Minute))
	l := newLimiter(t, store, core.PerHour(1).Named("tight"), core.PerHour(9).Named("wide"))
	mustTake(t, l, 1, "k", "k")
	asked, known := mustTake(t, l, 1, "k", "k"), mustTake(t, l, 1, "k", "k")
	if asked.Decision(1).Unasked || !known.Decision(1).Unasked || known.Binding != 0 || known.Allowed {
		t.Errorf("asked %+v\nknown %+v", asked.Decisions(), known.Decisions())
	}
	off := newStore(t, server.Client(), redisstore.RememberRefusals(0))
	l = newLimiter(t, off, core.PerHour(1).Named("tight"), core.PerHour(9).Named("wide"))
	for range 3 {
		r := mustTake(t, l, 1, "k", "k")
		if r.Decision(1).Unasked {
			t.Error("switched off, and a policy is not asked")
		}
	}
}

// TestARememberedRefusalEnds: on the server's clock, since that is what is tested.
func TestARememberedRefusalEnds(t *testing.T) {
	l := newLimiter(t, newStore(t, server.Client()), core.Per(1, 300*time.Millisecond).TokenBucket(1).Named("p"))
	mustTake(t, l, 1, "k")
	refused := mustTake(t, l, 1, "k")
	time.Sleep(refused.RetryAfter + 2*time.Millisecond) // and what the two clocks differ
	if r := mustTake(t, l, 1, "k"); !r.Allowed {
		t.Errorf("told to wait %v, and then refused for %v", refused.RetryAfter, r.RetryAfter)
	}
}

func TestTheBreakerOpensAndCloses(t *testing.T) {
	own := redistest.Start(t)
	for name, client := range clients(own) {
		t.Run(name, func(t *testing.T) {
			store := newStore(t, client, redisstore.Timeout(50*time.Millisecond))
			l := newLimiter(t, store, core.PerHour(1000).Named("p").WhenStoreAway(core.Open))
			mustTake(t, l, 1, "k")
			own.Freeze()
			for i := 0; !store.BreakerOpen(); i++ {
				if i > 20 {
					t.Fatal("twenty calls have failed, and it is not open")
				}
				mustTake(t, l, 1, "k")
			}
			began := time.Now()
			for range 100 {
				if r := mustTake(t, l, 1, "k"); !r.StoreAway {
					t.Fatal("a frozen server has answered")
				}
			}
			if took := time.Since(began); took > time.Second {
				t.Errorf("a hundred requests took %v beside an open breaker", took)
			}
			own.Thaw()
			began = time.Now()
			for r := mustTake(t, l, 1, "k"); r.StoreAway; r = mustTake(t, l, 1, "k") {
				if time.Since(began) > time.Second {
					t.Fatal("a second after the thaw it is still open")
				}
				time.Sleep(10 * time.Millisecond) // until its next probe
			}
		})
	}
}
