package core

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestUnlimitedAndBlocked(t *testing.T) {
	m := NewMemory()
	l := mustLimiter(t, m, PerMinute(2).Named("plan"), PerMinute(10).Named("beside"))
	decide := func(limit Limit, cost int64) Result {
		t.Helper()
		r, err := l.Decide(context.Background(), []Units{{Key: "k", Cost: cost, Limit: limit}, {Key: "k", Cost: 1}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := decide(Unlimited(), 5); !r.Allowed || r.Binding != 1 || r.Decision(0).Charged != 0 {
		t.Errorf("unlimited: %+v", r)
	}
	if r := decide(Blocked(), 1); r.Allowed || !r.Never || r.RetryAfter != 0 || r.Binding != 0 || !r.Decision(1).Allowed {
		t.Errorf("blocked: %+v", r)
	}
	if r := decide(Blocked(), 0); r.Allowed || !r.Never {
		t.Errorf("blocked, a peek: %+v", r)
	}
	if r := decide(Limit{}, 1); r.Decision(0).Remaining != 1 || r.Decision(1).Remaining != 8 {
		t.Errorf("afterwards: %+v", r.Decisions())
	}
	if _, err := l.Decide(context.Background(), []Units{{Key: "k", Limit: Limit{Count: -1}}, {Key: "k"}}); !errors.Is(err, ErrInvalid) {
		t.Errorf("a chosen limit of -1: %v", err)
	}
	if m.Len() != 2 {
		t.Errorf("%d keys are held, want one for each policy that counted", m.Len())
	}
}

func TestADecisionIsRefundedOnce(t *testing.T) {
	l := mustLimiter(t, nil, PerHour(10).SlidingWindowLog())
	mustTake(t, l, "k")
	r := mustTake(t, l, "k")
	var done sync.WaitGroup
	for range 8 {
		done.Go(func() { _ = l.Refund(context.Background(), &r) })
	}
	done.Wait()
	if err := l.Settle(context.Background(), &r, 7); err != nil {
		t.Error(err)
	}
	after := mustTake(t, l, "k")
	if left := after.Decision(0).Remaining; left != 8 {
		t.Errorf("two of three are charged, %d of 10 remain", left)
	}
}

func TestSettleEach(t *testing.T) {
	l := mustLimiter(t, nil, PerHour(10).Named("a"), PerHour(10).Named("b"))
	r := mustTake(t, l, "k", "k")
	if err := l.SettleEach(context.Background(), &r, []int64{1}); err == nil {
		t.Error("one cost for two policies was taken")
	}
	if err := l.Settle(context.Background(), &r, -1); !errors.Is(err, ErrNegativeCost) {
		t.Errorf("a negative actual cost: %v", err)
	}
	if err := l.SettleEach(context.Background(), &r, []int64{4, -1}); err != nil {
		t.Error(err)
	}
	after := mustTake(t, l, "k", "k")
	if a, b := after.Decision(0).Remaining, after.Decision(1).Remaining; a != 5 || b != 8 {
		t.Errorf("4+1 and 1+1 of 10 are charged; %d and %d remain", a, b)
	}
}

func TestKeysAndPoliciesMustMatch(t *testing.T) {
	l := mustLimiter(t, nil, PerHour(1).Named("a"), PerHour(1).Named("b"))
	if _, err := l.Take(context.Background(), "k"); err == nil || !strings.HasPrefix(err.Error(), "ratelimit: 1 keys for 2 policies") {
		t.Errorf("%v", err)
	}
	if err := l.Reset(context.Background(), "c", "k"); err == nil {
		t.Error("a policy that is not there was reset")
	}
	if err := l.Block(context.Background(), "a", "k", -1); !errors.Is(err, ErrInvalid) {
		t.Errorf("a block of -1: %v", err)
	}
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		defer m.Close()
		l := mustLimiter(t, m, PerSecond(10).LeakyBucket(2))
		ctx := context.Background()
		began := time.Now()
		for range 4 { // turns at 0, 100, 200 and, the queue being full at first, 300 ms
			if err := l.Wait(ctx, "k"); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != 300*time.Millisecond {
			t.Errorf("four turns took %v", took)
		}
	})
}

func TestWaitGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		defer m.Close()
		l := mustLimiter(t, m, PerSecond(1).LeakyBucket(5))
		near, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
		defer cancel()
		if err := l.Wait(near, "k"); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := l.Wait(near, "k"); !errors.Is(err, ErrRefused) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a turn past the deadline: %v", err)
		}
		if time.Since(began) != 0 {
			t.Error("it slept before it gave up")
		}
		leaves, leave := context.WithCancel(context.Background())
		time.AfterFunc(300*time.Millisecond, leave)
		if err := l.Wait(leaves, "k"); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller who leaves: %v", err)
		}
		r, err := l.Peek(context.Background(), "k")
		if err != nil || r.Decision(0).Remaining != 4 {
			t.Errorf("one turn of five is taken, %d remain (%v)", r.Decision(0).Remaining, err)
		}
	})
}

// away is a store that does not answer.
type away struct{ err error }

func (s away) Take(context.Context, time.Time, []Ask) error            { return s.err }
func (s away) Adjust(context.Context, time.Time, []Ask, []int64) error { return s.err }
func (s away) Reset(context.Context, *Terms, string) error             { return s.err }
func (s away) Block(context.Context, time.Time, *Terms, string, time.Duration) error {
	return s.err
}

func TestStoreAway(t *testing.T) {
	cause := errors.New("no route")
	store := away{cause}
	closed := PerHour(4).Named("closed").WhenStoreAway(Closed)
	open := PerHour(4).Named("open").WhenStoreAway(Open)
	local := PerHour(4).Named("local")
	shared := PerHour(4).Named("shared").LocalShare(3) // 2 an hour for this instance

	admitted := func(policies ...Policy) (n int) {
		l := mustLimiter(t, store, policies...)
		keys := []string{"k", "k", "k"}[:len(policies)]
		for range 6 {
			r, err := l.Take(context.Background(), keys...)
			if err != nil {
				t.Fatal(err)
			}
			if !r.StoreAway {
				t.Fatal("a store that is away does not show")
			}
			if r.Allowed {
				n++
			}
		}
		return n
	}
	if a, b, c, d := admitted(open), admitted(local), admitted(shared), admitted(open, shared, local); a != 6 || b != 4 || c != 2 || d != 2 {
		t.Errorf("admitted %d open, %d local, %d at a share, %d mixed; want 6, 4, 2, 2", a, b, c, d)
	}
	l := mustLimiter(t, store, local, closed)
	r, err := l.Take(context.Background(), "k", "k")
	if !errors.Is(err, ErrStoreAway) || !errors.Is(err, cause) || r.Allowed {
		t.Errorf("a closed policy: %+v, %v", r, err)
	}
}

func TestACallerWhoLeavesIsNoFaultOfTheStore(t *testing.T) {
	l := mustLimiter(t, away{context.Canceled}, PerHour(4))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := l.Take(ctx, "k"); !errors.Is(err, context.Canceled) || errors.Is(err, ErrStoreAway) || r.Allowed {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestACostAboveTheShareWaits: the whole limit would admit it, so it is not never.
func TestACostAboveTheShareWaits(t *testing.T) {
	l := mustLimiter(t, away{errors.New("away")}, PerHour(10).Named("p").LocalShare(5))
	r, err := l.TakeN(context.Background(), 5, "k")
	if err != nil || r.Allowed || r.Never || r.RetryAfter != time.Hour {
		t.Errorf("%+v, %v; want a refusal for an hour", r, err)
	}
	if r, err := l.TakeN(context.Background(), 11, "k"); err != nil || !r.Never {
		t.Errorf("above the whole limit: %+v, %v; want never", r, err)
	}
}

// TestAChosenPeriodIsResetAndBlockedToo: a tenant's plan can have a state of its own.
func TestAChosenPeriodIsResetAndBlockedToo(t *testing.T) {
	l := mustLimiter(t, nil, PerMinute(100).Named("plan"))
	ctx := context.Background()
	take := func() bool {
		t.Helper()
		r, err := l.Decide(ctx, []Units{{Key: "tenant", Cost: 1, Limit: Limit{Count: 1, Period: 24 * time.Hour}}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Allowed
	}
	if !take() || take() {
		t.Fatal("one a day does not admit one")
	}
	if err := l.Reset(ctx, "plan", "tenant"); err != nil || !take() {
		t.Errorf("a reset does not reach the tenant's period (%v)", err)
	}
	if err := l.Reset(ctx, "plan", "tenant"); err != nil {
		t.Fatal(err)
	}
	if err := l.Block(ctx, "plan", "tenant", time.Hour); err != nil {
		t.Fatal(err)
	}
	if take() {
		t.Error("a block does not reach the tenant's period")
	}
}

// TestOpenAndLocalPoliciesTogether: requests that leave the local one out meet those
// that make its memory.
func TestOpenAndLocalPoliciesTogether(t *testing.T) {
	l := mustLimiter(t, away{errors.New("away")}, PerHour(4).Named("open").WhenStoreAway(Open), PerHour(4).Named("local"))
	var done sync.WaitGroup
	for i := range 16 {
		done.Go(func() {
			r, err := l.Decide(context.Background(), []Units{{Key: "k", Cost: 1}, {Key: "k", Cost: 1, Skip: i%2 == 0}})
			if err != nil {
				t.Error(err)
			}
			if err := l.Refund(context.Background(), &r); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
}
