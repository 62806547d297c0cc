package redisstore_test

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/core/storetest"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

func leased() []core.Policy {
	return []core.Policy{
		core.PerHour(1000).FixedWindow().Named("fixed").Leasing(100),
		core.Per(1000, 1000*time.Hour).TokenBucket(1000).Named("token").Leasing(100),
	}
}

func TestALeaseSparesCallsAndAdmitsNoMore(t *testing.T) {
	own := redistest.Start(t)
	for _, p := range leased() {
		t.Run(p.Name, func(t *testing.T) {
			first := newStore(t, own.Client())
			second := newStoreLike(t, first)
			before := evalshas(t, own.Client())
			var admitted atomic.Int64
			var done sync.WaitGroup
			for i := range 32 {
				l := newLimiter(t, []*redisstore.Store{first, second}[i%2], p)
				done.Go(func() {
					for range 100 {
						if r := mustTake(t, l, 1, "hot"); r.Allowed {
							admitted.Add(1)
						}
					}
				})
			}
			done.Wait()
			if n := admitted.Load(); n > 1000 || n < 1000-100 {
				t.Errorf("two instances admitted %d of 3200 at a limit of 1000", n)
			}
			if calls := evalshas(t, own.Client()) - before; calls > 400 {
				t.Errorf("%d calls for %d admissions", calls, admitted.Load())
			}
		})
	}
}

func TestWhatIsUnusedGoesBack(t *testing.T) {
	for _, p := range leased() {
		t.Run(p.Name, func(t *testing.T) {
			first := newStore(t, server.Client())
			second := newStoreLike(t, first)
			mustTake(t, newLimiter(t, first, p), 1, "k")
			bare := p
			bare.Lease = 0
			l := newLimiter(t, second, bare)
			peek := func() int64 {
				r := mustTake(t, l, 0, "k")
				return r.Decision(0).Remaining
			}
			if left := peek(); left != 900 {
				t.Errorf("100 are out on lease, %d remain", left)
			}
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			if left := peek(); left != 999 {
				t.Errorf("one was used, %d remain", left)
			}
			mustTake(t, newLimiter(t, first, p), 1, "idle")
			for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(50 * time.Millisecond) {
				if r := mustTake(t, l, 0, "idle"); r.Decision(0).Remaining == 999 {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("an idle lease is not given back")
				}
			}
		})
	}
}

// TestALeaseEndsWithItsWindow: on the server's clock, in short windows. Some servers read
// it less often than they are asked, so it is they who say which window it is.
func TestALeaseEndsWithItsWindow(t *testing.T) {
	const limit, window = 50, 200 * time.Millisecond
	client := server.Client()
	l := newLimiter(t, newStore(t, client), core.Per(limit, window).FixedWindow().Named("p").Leasing(20))
	number := func() int64 { return client.Time(ctx).Val().UnixMicro() / window.Microseconds() }
	admitted := map[int64]int{}
	for began := time.Now(); time.Since(began) < 5*window; {
		before := number()
		r := mustTake(t, l, 1, "k")
		if after := number(); r.Allowed && before == after {
			admitted[after]++
		}
	}
	for number, n := range admitted {
		if n > limit {
			t.Errorf("%d admitted in window %d at a limit of %d", n, number, limit)
		}
	}
	if len(admitted) < 4 {
		t.Errorf("admitted in %d windows only", len(admitted))
	}
}

func TestTheSafetyOfLeases(t *testing.T) {
	storetest.RunSafety(t, func(t testing.TB) core.Store { return newStore(t, server.Client()) }, leased()...)
}

func TestLeasesDoNotNeedRememberedRefusals(t *testing.T) {
	own := redistest.Start(t)
	l := newLimiter(t, newStore(t, own.Client(), redisstore.RememberRefusals(0)), leased()[0])
	for range 100 {
		mustTake(t, l, 1, "k")
	}
	if calls := evalshas(t, own.Client()); calls > 2 {
		t.Errorf("%d calls for a lease of 100", calls)
	}
}

// held is a hook that holds the script's answers back, and says when one has come.
type held struct {
	came chan struct{}
	back chan struct{} // nil: none is held
}

func (h *held) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (h *held) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		back := h.back
		err := next(ctx, cmd)
		if cmd.Name() == "evalsha" && back != nil {
			h.back = nil
			h.came <- struct{}{}
			<-back
		}
		return err
	}
}

func (h *held) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// TestABlockEndsACallForMore: what the server granted before the block is not handed
// out after it.
func TestABlockEndsACallForMore(t *testing.T) {
	for name, end := range map[string]func(*core.Limiter) error{
		"block": func(l *core.Limiter) error { return l.Block(ctx, "", "k", time.Hour) },
		"reset": func(l *core.Limiter) error { return l.Reset(ctx, "", "k") },
	} {
		t.Run(name, func(t *testing.T) {
			client := server.Client()
			hook := &held{came: make(chan struct{})}
			client.AddHook(hook)
			l := newLimiter(t, newStore(t, client), core.PerHour(100).FixedWindow().Named("p").Leasing(50))
			mustTake(t, l, 1, "other") // the script is loaded
			back := make(chan struct{})
			hook.back = back
			answered := make(chan struct{})
			go func() {
				mustTake(t, l, 1, "k")
				close(answered)
			}()
			<-hook.came
			if err := end(l); err != nil {
				t.Fatal(err)
			}
			close(back)
			<-answered
			admitted := 0
			for range 150 {
				if r := mustTake(t, l, 1, "k"); r.Allowed {
					admitted++
				}
			}
			if want := map[string]int{"block": 0, "reset": 100}[name]; admitted != want {
				t.Errorf("%d admitted after it, want %d", admitted, want)
			}
		})
	}
}

// TestWaitingForALeaseKeepsTheTimeout: those who wait share the outcome of one call.
func TestWaitingForALeaseKeepsTheTimeout(t *testing.T) {
	own := redistest.Start(t)
	store := newStore(t, own.Client(), redisstore.Timeout(200*time.Millisecond))
	l := newLimiter(t, store, core.PerHour(1000).FixedWindow().Named("p").Leasing(5).WhenStoreAway(core.Open))
	mustTake(t, l, 1, "other")
	own.Freeze()
	defer own.Thaw()
	began := time.Now()
	var done sync.WaitGroup
	for range 20 {
		done.Go(func() { mustTake(t, l, 1, "k") })
	}
	done.Wait()
	if took := time.Since(began); took > time.Second {
		t.Errorf("the slowest of 20 took %v at a timeout of 200ms", took)
	}
}
