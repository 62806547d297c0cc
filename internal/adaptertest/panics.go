package adaptertest

import (
	"strconv"
	"sync"
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
)

var panics = []testCase{
	{name: "a panic in each hook", run: hookPanics},
	{name: "a panic in the handler", run: handlerPanics},
	{name: "nothing is settled after a panic", run: unsettled},
}

// panicking is an app whose hooks panic where the request names them.
func panicking(d Driver) App {
	maybe := func(asked, hook string) {
		if asked == hook {
			panic(hook)
		}
	}
	o := fixed()
	o.Skip = func(c Call) bool { maybe(c.Query("panic"), "skip"); return false }
	o.OnRefused = func(c Call, _ core.Result) { maybe(c.Query("panic"), "refused") }
	o.OnError = func(c Call, _ error) { maybe(c.Query("panic"), "error") }
	o.Failure = func(c Call, status int) bool { maybe(c.Query("panic"), "failure"); return status >= 400 }
	o.ActualCost = func(c Call) (int64, bool) { maybe(c.Query("panic"), "actual"); return 0, false }
	policy := core.PerMinute(20).FixedWindow().Named("p").Counting(core.CountSuccesses).By(d.Key(func(c Call) (string, error) {
		maybe(c.Query("panic"), "key")
		return "k", nil
	})).LimitBy(func(r core.Request) (core.Limit, error) {
		maybe(r.Query("panic"), "limit")
		return core.PerMinute(20).Limit, nil
	}).Costing(func(r core.Request) (int64, error) {
		maybe(r.Query("panic"), "cost")
		return strconv.ParseInt(r.Query("n"), 10, 64)
	})
	other := core.PerMinute(100).Named("other").By(d.Key(func(Call) (string, error) { return "other", nil }))
	return App{Options: o, Routes: []Route{{"GET", "/", []Policies{{other, policy}}, func(c Call) {
		maybe(c.Query("panic"), "handler")
		ok(c)
	}}}}
}

// hookPanics: no lock is left held, no charge is lost, and the server goes on. A
// panic before the decision charges nothing; one after the handler leaves the charge.
func hookPanics(t *testing.T, d Driver) {
	for _, c := range []struct {
		hook, n string
		left    string
	}{
		{"skip", "1", "20"}, {"key", "1", "20"}, {"limit", "1", "20"}, {"cost", "1", "20"}, {"error", "-1", "20"}, {"refused", "1000", "20"},
		{"failure", "1", "19"}, {"actual", "1", "19"},
	} {
		url := d.Serve(t, panicking(d))
		got := send(t, "GET", url+"/?panic="+c.hook+"&n="+c.n)
		if after := c.hook == "failure" || c.hook == "actual"; !after && got.status != 500 {
			t.Errorf("%s: status %d, want 500", c.hook, got.status)
		}
		if n := get(t, url+"/?n=0", 200).header.Get("RateLimit-Remaining"); n != c.left {
			t.Errorf("%s: %s left, want %s", c.hook, n, c.left)
		}
		unlocked(t, url+"/?n=0")
	}
}

// unlocked makes requests at once, which must not wait for each other for ever.
func unlocked(t *testing.T, url string) {
	var wait sync.WaitGroup
	for range 10 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			if got := send(t, "GET", url); got.status != 200 {
				t.Errorf("status %d, want 200", got.status)
			}
		}()
	}
	wait.Wait()
}

// handlerPanics: the panic is a failure, and here only successes count.
func handlerPanics(t *testing.T, d Driver) {
	url := d.Serve(t, panicking(d))
	get(t, url+"/?n=5&panic=handler", 500, 500, 500, 500, 500, 500)
	get(t, url+"/?n=20", 200, 429)
	unlocked(t, url+"/?n=0")
}

// unsettled: what a panic leaves is no answer to ask a cost of.
func unsettled(t *testing.T, d Driver) {
	a := panicking(d)
	a.Options.ActualCost = func(Call) (int64, bool) { return 1, true }
	a.Options.Failure = func(Call, int) bool { return false }
	url := d.Serve(t, a)
	get(t, url+"/?n=5&panic=handler", 500)
	get(t, url+"/?n=5", 200).wantField(t, "RateLimit-Remaining", "10")
	get(t, url+"/?n=0", 200).wantField(t, "RateLimit-Remaining", "14")
}
