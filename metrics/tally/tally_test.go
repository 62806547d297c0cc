package tally_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/metrics/tally"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

// limited decides requests over policies and has a Tally count them, as the path
// of a request does.
type limited struct {
	*testing.T
	counts  *tally.Tally
	limiter *core.Limiter
}

func newLimited(t *testing.T, counts *tally.Tally, policies ...core.Policy) limited {
	t.Helper()
	store := core.NewMemory()
	t.Cleanup(func() { _ = store.Close() })
	limiter, err := core.NewLimiter(store, policies...)
	if err != nil {
		t.Fatal(err)
	}
	counts.Mounted(pipeline.Mount{Store: store, Limiter: limiter, Policies: policies})
	return limited{t, counts, limiter}
}

func (l limited) ask(route string, cost int64, held time.Duration, keys ...string) {
	l.Helper()
	r, err := l.limiter.TakeN(context.Background(), cost, keys...)
	if err != nil {
		l.Fatal(err)
	}
	outcome := pipeline.Admitted
	if !r.Allowed {
		outcome = pipeline.Refused
	}
	l.counts.Decided(route, &r, outcome, held)
}

// requests are the counts that are not zero, as "policy route result n".
func requests(counts *tally.Tally) map[string]int64 {
	all := make(map[string]int64)
	counts.Requests(func(policy, route string, kind tally.Kind, n int64) {
		if n > 0 {
			all[policy+" | "+route+" | "+kind.String()] = n
		}
	})
	return all
}

func wantRequests(t *testing.T, counts *tally.Tally, want map[string]int64) {
	t.Helper()
	if got := requests(counts); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("counted %v, want %v", got, want)
	}
}

func TestEveryKindOfDecision(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy core.Policy
		ask    func(limited)
		want   map[string]int64
	}{
		{"admitted, then refused", core.PerHour(2).Named("p"), func(l limited) {
			for range 5 {
				l.ask("GET /a", 1, 0, "k")
			}
		}, map[string]int64{"p | GET /a | admitted": 2, "p | GET /a | refused": 3}},
		{"a cost that never passes", core.PerHour(2).Named("p"), func(l limited) { l.ask("GET /a", 3, 0, "k") },
			map[string]int64{"p | GET /a | never": 1}},
		{"held", core.PerHour(2).Named("p"), func(l limited) { l.ask("GET /a", 1, time.Second, "k") },
			map[string]int64{"p | GET /a | held": 1}},
		{"degraded", core.PerHour(1).Named("p").Degrading(), func(l limited) {
			l.ask("GET /a", 1, 0, "k")
			l.ask("GET /a", 1, 0, "k")
		}, map[string]int64{"p | GET /a | admitted": 1, "p | GET /a | degraded": 1}},
		{"a dry run", core.PerHour(1).Named("p").AsDryRun(), func(l limited) {
			l.ask("GET /a", 1, 0, "k")
			l.ask("GET /a", 1, 0, "k")
		}, map[string]int64{"p | GET /a | admitted": 1, "p | GET /a | dry_run_refused": 1}},
		{"no route", core.PerHour(2).Named("p"), func(l limited) { l.ask("", 1, 0, "k") },
			map[string]int64{"p | unmatched | admitted": 1}},
		{"no limit", core.PerLimit(core.Unlimited()).Named("p"), func(l limited) { l.ask("GET /a", 1, 0, "k") }, map[string]int64{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			counts := tally.New(tally.Options{})
			c.ask(newLimited(t, counts, c.policy))
			wantRequests(t, counts, c.want)
		})
	}
}

// TestDryRunBesideEnforcement: what a new limit would refuse is counted while the
// old one decides.
func TestDryRunBesideEnforcement(t *testing.T) {
	counts := tally.New(tally.Options{})
	l := newLimited(t, counts, core.PerHour(5).Named("now"), core.PerHour(2).Named("new").AsDryRun())
	for range 6 {
		l.ask("GET /a", 1, 0, "k", "k")
	}
	wantRequests(t, counts, map[string]int64{
		"now | GET /a | admitted": 5, "now | GET /a | refused": 1,
		"new | GET /a | admitted": 2, "new | GET /a | dry_run_refused": 4,
	})
}

func TestRoutesAndPoliciesAreBounded(t *testing.T) {
	counts := tally.New(tally.Options{})
	l := newLimited(t, counts, core.PerHour(1_000_000).Named("p"))
	for i := range 2000 {
		l.ask(fmt.Sprint("GET /", i), 1, 0, "k")
	}
	got := requests(counts)
	if len(got) != 501 || got["p | other | admitted"] != 1500 {
		t.Errorf("%d pairs, of other %d; want 501 and 1500", len(got), got["p | other | admitted"])
	}
	for i := range 1000 {
		newLimited(t, counts, core.PerHour(5).Named(fmt.Sprint("p", i))).ask("GET /a", 1, 0, "k")
	}
	if got := requests(counts); len(got) > 700 || got["other | other | admitted"] != 901 {
		t.Errorf("%d pairs, of other policies %d; want at most 700 and 901", len(got), got["other | other | admitted"])
	}
}

func TestUndecided(t *testing.T) {
	counts := tally.New(tally.Options{})
	counts.Decided("GET /a", &core.Result{}, pipeline.Failed, 0)
	counts.Decided("GET /a", &core.Result{}, pipeline.Denied, 0)
	counts.Decided("GET /a", &core.Result{}, pipeline.Denied, 0)
	if failed, denied := counts.Undecided(); failed != 1 || denied != 2 {
		t.Errorf("%d failed and %d denied, want 1 and 2", failed, denied)
	}
	wantRequests(t, counts, map[string]int64{})
}

// remote is a store outside that has all there is to tell.
type remote struct {
	core.Store
	open bool
}

func (r *remote) BreakerOpen() bool          { return r.open }
func (r *remote) DenialHits() int64          { return 7 }
func (r *remote) ErrorKind(err error) string { return map[bool]string{true: "busy"}[err == errBusy] }

var errBusy = errors.New("busy")

func TestStoresTellTheirNumbers(t *testing.T) {
	counts := tally.New(tally.Options{})
	memory := core.NewMemory(core.MaxKeys(64))
	defer memory.Close()
	counts.Watch(memory)
	counts.Watch(memory)
	counts.Watch(nil)
	if got := counts.ReadStores(); got != (tally.Stores{}) {
		t.Errorf("of one in memory: %+v", got)
	}
	limiter, _ := core.NewLimiter(memory, core.PerHour(5))
	_, _ = limiter.Take(t.Context(), "k")
	counts.Watch(&remote{open: true})
	want := tally.Stores{Keys: 1, OpenBreakers: 1, DenialHits: 7}
	if got := counts.ReadStores(); got != want {
		t.Errorf("of both: %+v, want %+v", got, want)
	}
}

func TestStoresWithoutEnd(t *testing.T) {
	counts := tally.New(tally.Options{})
	for range 3000 {
		counts.Watch(&remote{})
	}
	if got := counts.ReadStores().DenialHits; got != 7*1000 {
		t.Errorf("%d are watched, want 1000", got/7)
	}
}

func TestStoreErrorsByKind(t *testing.T) {
	counts := tally.New(tally.Options{})
	counts.Watch(&remote{})
	for _, err := range []error{nil, errBusy, context.DeadlineExceeded, core.ErrClosed, errors.New("ERR"), errors.New("ERR")} {
		counts.StoreAnswered(time.Millisecond, err)
	}
	got := make(map[string]int64)
	counts.StoreErrors(func(kind string, n int64) { got[kind] = n })
	if want := map[string]int64{"busy": 1, "timeout": 1, "closed": 1, "server": 2}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("errors %v, want %v", got, want)
	}
	n, sum, buckets := counts.Answered().Read()
	if n != 6 || sum < .0059 || sum > .0061 || buckets[.0005] != 0 || buckets[.001] != 6 {
		t.Errorf("times: %d of %v s, %v", n, sum, buckets)
	}
}

// TestTheHeaviestOfMany: 20 clients that are refused much stand out of 10,000 that
// are refused once, in the right order, and no secret is shown.
func TestTheHeaviestOfMany(t *testing.T) {
	counts := tally.New(tally.Options{})
	l := newLimited(t, counts, core.PerLimit(core.Blocked()).Named("shut"))
	for i := range 10_000 {
		l.ask("GET /a", 1, 0, fmt.Sprint("once ", i))
		if i%5 == 0 {
			for heavy := range 20 {
				for range heavy/4 + 1 {
					l.ask("GET /a", 1, 0, fmt.Sprint("heavy ", heavy))
				}
			}
		}
	}
	heaviest := counts.Heaviest(8)
	for i, c := range heaviest {
		if !strings.HasPrefix(c.Key, "heavy 1") || c.Hash != tally.KeyHash(c.Key) || c.Policy != "shut" || c.Passed != 0 {
			t.Errorf("place %d is %+v", i, c)
		}
		if least := int64(2000 * 4); c.Refused < least {
			t.Errorf("place %d was refused %d times, want at least %d", i, c.Refused, least)
		}
	}
	if all := len(counts.Heaviest(1_000_000)); all > 512 {
		t.Errorf("%d clients are kept, want at most 512", all)
	}
	if got := len(counts.Heaviest(-1)); got != 0 {
		t.Errorf("-1 gives %d", got)
	}
}

func TestHugeKeysAreNotKept(t *testing.T) {
	counts := tally.New(tally.Options{})
	huge := strings.Repeat("k", 1<<20)
	newLimited(t, counts, core.PerLimit(core.Blocked()).Named("shut")).ask("GET /a", 1, 0, huge)
	c := counts.Heaviest(1)[0]
	if c.Key != "" || c.Hash != tally.KeyHash(huge) {
		t.Errorf("kept %d bytes, by the hash %q", len(c.Key), c.Hash)
	}
}

// TestMinutes is what the minute's timer does: the clients of the last minute, the
// share of refusals, and an end when nobody comes.
func TestMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shares []float64
		counts := tally.New(tally.Options{OnMinute: func(_ string, share float64) { shares = append(shares, share) }})
		limiter, _ := core.NewLimiter(nil, core.PerHour(1_000_000).Named("p"))
		l := limited{t, counts, limiter}
		for i := range 1000 {
			l.ask("GET /a", 1, 0, fmt.Sprint(i))
		}
		for i := range 4 { // after the first refusal 3 of 4 are refused
			l.ask("GET /a", []int64{2_000_000, 1, 2_000_000, 2_000_000}[i], 0, "k")
		}
		active := func() (n int64) {
			counts.Policies(func(_ string, clients int64, _, _ *tally.Histogram) { n = clients })
			return n
		}
		for _, step := range []struct {
			after    time.Duration
			from, to int64
		}{{0, 950, 1050}, {61 * time.Second, 950, 1050}, {time.Minute, 0, 0}, {time.Hour, 0, 0}} {
			time.Sleep(step.after)
			synctest.Wait()
			if n := active(); n < step.from || n > step.to {
				t.Errorf("after %v more: %d clients, want %d to %d", step.after, n, step.from, step.to)
			}
		}
		if fmt.Sprint(shares) != "[0.75]" {
			t.Errorf("shares of refusals %v, want [0.75]", shares)
		}
		if left := len(counts.Heaviest(9)); left != 0 {
			t.Errorf("%d clients are kept after minutes of silence", left)
		}
	}) // the bubble ends only when no timer is left
}

func TestManyAtOnce(t *testing.T) {
	counts := tally.New(tally.Options{})
	done := make(chan bool)
	for g := range 8 {
		go func() {
			l := newLimited(t, counts, core.PerHour(1).Named("p"))
			for i := range 500 {
				l.ask(fmt.Sprint("GET /", i%7), 1, 0, fmt.Sprint(g, i%9))
				counts.Heaviest(3)
			}
			done <- true
		}()
	}
	for range 8 {
		<-done
	}
	var n int64
	for _, counted := range requests(counts) {
		n += counted
	}
	if n != 4000 {
		t.Errorf("counted %d requests of 4000", n)
	}
}

func TestKeyHashIsShortAndItsOwn(t *testing.T) {
	if a, b := tally.KeyHash("a"), tally.KeyHash("b"); len(a) != 16 || a == b || a != tally.KeyHash("a") || strings.HasPrefix(a, "ca978112ca1bbdca") {
		t.Errorf("hashes %q and %q", a, b)
	}
}
