package adaptertest

import (
	"strconv"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

var outcomes = []testCase{
	{name: "refund by outcome", run: refundByOutcome},
	{name: "what a failure is can be said", run: failurePredicate},
	{name: "a failure is given back though its client has left", run: refundOfTheGone, writer: true},
	{name: "settle to the actual cost", run: settle},
	{name: "degrade", run: degrade},
	{name: "dry run", run: dryRun},
}

// byStatus answers with the status that it is asked for.
func byStatus(c Call) {
	switch status := c.Query("status"); status {
	case "panic":
		panic("on purpose")
	case "failed":
		c.Fail(418)
	case "none":
	default:
		n, _ := strconv.Atoi(status)
		c.Answer(n, "")
	}
}

func outcomeApp(o *Options, p core.Policy) App {
	return App{Options: o, Routes: []Route{{"GET", "/", []Policies{{p}}, byStatus}}}
}

func refundByOutcome(t *testing.T, d Driver) {
	for _, c := range []struct {
		outcome             string
		answer              int
		failures, successes string // what is left of 10 where only these count
	}{
		{"200", 200, "10", "9"},
		{"204", 204, "10", "9"},
		{"none", 200, "10", "9"},
		{"302", 302, "10", "9"},
		{"400", 400, "9", "10"},
		{"404", 404, "9", "10"},
		{"500", 500, "9", "10"},
		{"failed", 418, "9", "10"},
		{"panic", 500, "9", "10"},
	} {
		for outcomes, left := range map[core.Outcomes]string{
			core.CountAll: "9", core.CountFailures: c.failures, core.CountSuccesses: c.successes,
		} {
			cost := func(r core.Request) (int64, error) { return strconv.ParseInt("0"+r.Query("n"), 10, 64) }
			url := d.Serve(t, outcomeApp(fixed(), core.PerMinute(10).Counting(outcomes).Costing(cost)))
			got := get(t, url+"/?n=1&status="+c.outcome, c.answer)
			got.wantField(t, "RateLimit-Remaining", "9")
			peek := get(t, url+"/?status=200", 200)
			if peek.header.Get("RateLimit-Remaining") != left {
				t.Errorf("outcome %s, counting %d: %s left, want %s", c.outcome, outcomes, peek.header.Get("RateLimit-Remaining"), left)
			}
		}
	}
}

func refundOfTheGone(t *testing.T, d Driver) {
	entered, ended := make(chan struct{}), make(chan struct{})
	a := app(fixed(), core.PerMinute(10).FixedWindow().Counting(core.CountSuccesses).Costing(func(r core.Request) (int64, error) {
		return strconv.ParseInt("0"+r.Query("n"), 10, 64)
	}))
	a.Routes[0].Handler = func(c Call) {
		if c.Query("n") != "" {
			defer close(ended)
			close(entered)
			<-c.Context().Done()
			c.Answer(500, "")
		}
	}
	url := d.Serve(t, a)
	leave(t, url+"/?n=4", entered)
	<-ended
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) { // the refund follows
		left := get(t, url, 200).header.Get("RateLimit-Remaining")
		if left == "10" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s left, want all 10", left)
		}
	}
}

func failurePredicate(t *testing.T, d Driver) {
	o := fixed()
	o.Failure = func(c Call, status int) bool { return status == 401 && c.Query("status") == "401" }
	url := d.Serve(t, outcomeApp(o, core.PerMinute(1).Counting(core.CountFailures)))
	get(t, url+"/?status=404", 404, 404)
	get(t, url+"/?status=500", 500, 500)
	get(t, url+"/?status=401", 401, 429)
}

func settle(t *testing.T, d Driver) {
	o := fixed()
	o.ActualCost = func(c Call) (int64, bool) {
		n, err := strconv.ParseInt(c.Query("actual"), 10, 64)
		return n, err == nil
	}
	estimate := core.PerMinute(20).FixedWindow().Named("units").Costing(func(r core.Request) (int64, error) {
		return strconv.ParseInt(r.Query("n"), 10, 64)
	})
	url := d.Serve(t, outcomeApp(o, estimate))
	for _, c := range []struct {
		query     string
		want      int
		remaining string // at the decision
	}{
		{"n=5&actual=2", 200, "15"},
		{"n=0", 200, "18"},
		{"n=5&actual=-3", 200, "13"}, // no cost: left as it is
		{"n=0", 200, "13"},
		{"n=1&actual=7", 200, "12"},
		{"n=0", 200, "6"},
		{"n=6&actual=100", 200, "0"}, // debt
		{"n=1", 429, "0"},
	} {
		get(t, url+"/?status=200&"+c.query, c.want).wantField(t, "RateLimit-Remaining", c.remaining)
	}
	requests := d.Serve(t, outcomeApp(o, core.PerMinute(20).Named("requests")))
	get(t, requests+"/?status=200&actual=15", 200, 200).wantField(t, "RateLimit-Remaining", "18") // has no cost of its own
}

// excess answers what the handler finds in the request's results.
func excess(c Call) {
	text := ""
	for _, r := range c.Results() {
		for _, one := range r.Decisions() {
			text += one.Policy + "=" + strconv.FormatBool(one.Allowed) + " "
		}
	}
	c.Answer(200, text)
}

func degrade(t *testing.T, d Driver) {
	url := d.Serve(t, App{
		Options: fixed(), Global: []Policies{{core.PerMinute(100).Named("all")}},
		Routes: []Route{{"GET", "/", []Policies{{core.PerMinute(1).Named("full").Degrading()}}, excess}},
	})
	for _, want := range []string{"all=true full=true ", "all=true full=false "} {
		got := get(t, url, 200)
		if got.body != want {
			t.Errorf("the handler sees %q, want %q", got.body, want)
		}
		got.wantField(t, "RateLimit-Policy", `"all";q=100;w=60`)
	}
}

func dryRun(t *testing.T, d Driver) {
	a := app(fixed(), core.PerMinute(1).Named("new").AsDryRun(), core.PerMinute(2).Named("old"))
	a.Routes[0].Handler = excess
	url := d.Serve(t, a)
	for _, want := range []string{"new=true old=true ", "new=false old=true "} {
		if got := get(t, url, 200); got.body != want {
			t.Errorf("decided %q, want %q", got.body, want)
		}
	}
	get(t, url, 429).wantField(t, "RateLimit-Policy", `"old";q=2;w=60`)
}
