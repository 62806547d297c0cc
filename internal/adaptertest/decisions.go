package adaptertest

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/headers"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

var decisions = []testCase{
	{name: "admitted, then refused", run: admittedThenRefused},
	{name: "one line", run: oneLine},
	{name: "never", run: never},
	{name: "composite charges all or none", run: composite},
	{name: "refused again at once: only who refuses is named", run: refusedAgain},
	{name: "nested middlewares write the fields of all", run: nested},
	{name: "the fields of an outer middleware do not outlive an inner refusal", run: nestedNever},
	{name: "the same middleware twice decides once", run: twice},
	{name: "one policy in two middlewares is charged once", run: chargedOnce},
	{name: "skip", run: skip},
	{name: "allow and deny", run: allowAndDeny},
	{name: "preflights", run: preflights},
	{name: "misuse panics with the mend", run: misuse, once: true},
}

func admittedThenRefused(t *testing.T, d Driver) {
	var calls atomic.Int64
	a := app(fixed(), core.PerMinute(2).FixedWindow().Named("ip"))
	a.Routes[0].Handler = counted(&calls)
	url := d.Serve(t, a)
	first := get(t, url, 200)
	first.wantField(t, "RateLimit-Policy", `"ip";q=2;w=60`)
	first.wantField(t, "RateLimit", `"ip";r=1;t=60`)
	first.wantField(t, "RateLimit-Limit", "2")
	first.wantField(t, "RateLimit-Remaining", "1")
	first.wantField(t, "RateLimit-Reset", "60")
	first.wantField(t, "Retry-After", "")
	first.wantField(t, "Cache-Control", "")
	get(t, url, 200).wantField(t, "RateLimit-Remaining", "0")
	refused := get(t, url, 429)
	refused.wantField(t, "RateLimit", `"ip";r=0;t=60`)
	refused.wantField(t, "RateLimit-Remaining", "0")
	refused.wantField(t, "Retry-After", "60")
	refused.wantField(t, "Cache-Control", "no-store")
	refused.wantField(t, "Content-Type", "application/problem+json")
	if !strings.Contains(refused.body, `"violated-policies":["ip"]`) {
		t.Errorf("body %s does not name the policy", refused.body)
	}
	if n := calls.Load(); n != 2 {
		t.Errorf("the handler ran %d times, want 2", n)
	}
}

func oneLine(t *testing.T, d Driver) {
	url := d.Serve(t, App{Global: []Policies{{core.Per(2, 24*60*60*1e9)}}, Routes: []Route{{"GET", "/", nil, ok}}})
	get(t, url, 200, 200, 429).wantField(t, "RateLimit-Policy", `"2/day";q=2;w=86400`)
}

func never(t *testing.T, d Driver) {
	costly := core.PerMinute(2).Costing(func(core.Request) (int64, error) { return 3, nil })
	refused := get(t, d.Serve(t, app(fixed(), costly)), 429)
	refused.wantField(t, "Retry-After", "")
	refused.wantField(t, "RateLimit-Remaining", "2")
}

func composite(t *testing.T, d Driver) {
	url := d.Serve(t, app(fixed(), core.PerHour(100).Named("hour"), core.PerMinute(2).Named("minute")))
	get(t, url, 200, 200, 429, 429, 429)
	got := get(t, url, 429)
	got.wantField(t, "RateLimit", `"hour";r=98;t=7200, "minute";r=0;t=90`)
}

// refusedAgain runs on the store's own clock, by which it may remember refusals: then
// nothing is known of the other policies, and nothing is said.
func refusedAgain(t *testing.T, d Driver) {
	url := d.Serve(t, app(&Options{}, core.PerDay(100).TokenBucket(100).Named("day"), core.PerHour(2).SlidingWindowLog().Named("hour")))
	get(t, url, 200, 200)
	for range 3 {
		refused := get(t, url, 429)
		refused.wantField(t, "RateLimit-Limit", "2")
		refused.wantField(t, "RateLimit-Remaining", "0")
		if item := refused.header.Get("RateLimit"); !strings.Contains(item, `"hour";r=0;t=`) || strings.Contains(item, `"day";r=`) && !strings.Contains(item, `"day";r=98;t=`) {
			t.Errorf("RateLimit %q", item)
		}
		if !strings.Contains(refused.body, `"violated-policies":["hour"]`) {
			t.Errorf("body %s", refused.body)
		}
	}
}

func nested(t *testing.T, d Driver) {
	loose, tight := Policies{core.PerMinute(9).FixedWindow().Named("loose")}, Policies{core.PerMinute(2).FixedWindow().Named("tight")}
	for _, order := range [][]Policies{{loose, tight}, {tight, loose}} {
		url := d.Serve(t, App{Options: fixed(), Global: order[:1], Routes: []Route{{"GET", "/", order[1:], ok}}})
		got := get(t, url, 200)
		got.wantField(t, "RateLimit-Limit", "2")
		got.wantField(t, "RateLimit-Remaining", "1")
		for _, item := range []string{`"loose";r=8;t=60`, `"tight";r=1;t=60`} {
			if !strings.Contains(got.header.Get("RateLimit"), item) {
				t.Errorf("RateLimit %q lacks %s", got.header.Get("RateLimit"), item)
			}
		}
		refused := get(t, url, 200, 429)
		refused.wantField(t, "RateLimit-Remaining", "0")
		refused.wantField(t, "Retry-After", "60")
	}
}

// nestedNever: where no wait helps there is no reset, not the outer one's.
func nestedNever(t *testing.T, d Driver) {
	costly := core.PerMinute(2).FixedWindow().Named("costly").Costing(func(core.Request) (int64, error) { return 3, nil })
	url := d.Serve(t, App{Options: fixed(), Global: window("all", 9), Routes: []Route{{"GET", "/", []Policies{{costly}}, ok}}})
	got := get(t, url, 429)
	got.wantField(t, "RateLimit-Limit", "2")
	got.wantField(t, "RateLimit-Reset", "")
	got.wantField(t, "RateLimit", `"all";r=8;t=60, "costly";r=2`)
}

func twice(t *testing.T, d Driver) {
	p := Policies{core.PerMinute(5).Named("p")}
	url := d.Serve(t, App{Options: fixed(), Global: []Policies{p, p}, Routes: []Route{{"GET", "/", []Policies{p}, ok}}})
	got := get(t, url, 200)
	got.wantField(t, "RateLimit-Remaining", "4")
	got.wantField(t, "RateLimit-Policy", `"p";q=5;w=60`)
	get(t, url, 200, 200, 200, 200, 429)
}

func chargedOnce(t *testing.T, d Driver) {
	shared := core.PerMinute(5).Named("shared")
	url := d.Serve(t, App{Options: fixed(), Global: []Policies{{shared}}, Routes: []Route{
		{"GET", "/", []Policies{{core.PerMinute(9).Named("own"), shared}}, ok},
	}})
	got := get(t, url, 200)
	got.wantField(t, "RateLimit-Policy", `"shared";q=5;w=60, "own";q=9;w=60`)
	got.wantField(t, "RateLimit-Remaining", "4")
}

func skip(t *testing.T, d Driver) {
	o := fixed()
	o.Skip = func(c Call) bool { return c.Query("skip") == "1" }
	url := d.Serve(t, app(o, core.PerMinute(1)))
	get(t, url+"/?skip=1", 200, 200).wantField(t, "RateLimit", "")
	get(t, url, 200, 429)
	get(t, url+"/?skip=1", 200)
}

func allowAndDeny(t *testing.T, d Driver) {
	o := fixed()
	o.ClientIP = keyfuncs.NewClient(keyfuncs.TrustProxies("127.0.0.1"))
	o.Allow, o.Deny = []string{"10.0.0.0/8", "2001:db8::7"}, []string{"10.6.0.0/16", "192.0.2.1"}
	url := d.Serve(t, app(o, core.PerMinute(1)))
	for _, c := range []struct {
		client string
		want   []int
	}{
		{"10.1.2.3", []int{200, 200}},
		{"::ffff:10.1.2.3", []int{200, 200}},
		{"2001:db8::7", []int{200, 200}},
		{"2001:db8::8", []int{200, 429}},
		{"10.6.0.1", []int{403}},
		{"192.0.2.1", []int{403}},
		{"192.0.2.2", []int{200, 429}},
	} {
		for _, want := range c.want {
			if got := send(t, "GET", url, "X-Forwarded-For", c.client); got.status != want {
				t.Errorf("%s: status %d, want %d", c.client, got.status, want)
			}
		}
	}
}

func preflights(t *testing.T, d Driver) {
	for _, skipped := range []bool{true, false} {
		o := fixed()
		o.SkipPreflight = skipped
		url := d.Serve(t, App{Options: o, Routes: []Route{{"OPTIONS", "/", []Policies{{core.PerMinute(1)}}, ok}}})
		preflight := func() int {
			return send(t, "OPTIONS", url, "Origin", "https://example.com", "Access-Control-Request-Method", "PUT").status
		}
		first, second := preflight(), preflight()
		if first != 200 || (second == 200) != skipped {
			t.Errorf("SkipPreflight %v: %d, then %d", skipped, first, second)
		}
		if skipped {
			wantStatus(t, send(t, "OPTIONS", url), 200)
			wantStatus(t, send(t, "OPTIONS", url, "Origin", "https://example.com"), 429)
		}
	}
}

func misuse(t *testing.T, d Driver) {
	store := core.NewMemory()
	onStore := func(policies ...core.Policy) App { return app(&Options{Store: store}, policies...) }
	d.Serve(t, onStore(core.PerMinute(5).Named("five")))
	d.Serve(t, onStore(core.PerMinute(5).Named("five"))) // the same again is one budget
	for _, c := range []struct {
		app  App
		mend string
	}{
		{app(nil), "give at least one"},
		{onStore(core.PerMinute(5)), "give it one with Named"},
		{onStore(core.PerMinute(6).Named("five")), "give the second another name"},
		{onStore(core.PerMinute(5).FixedWindow().Named("five")), "give the second another name"},
		{app(fixed(), core.PerMinute(5), core.PerMinute(5)), "name them apart"},
		{app(&Options{Deny: []string{"nowhere"}}, core.PerMinute(5)), "write it as"},
		{app(&Options{Dialects: []headers.Dialect{headers.Draft07, headers.Draft11}}, core.PerMinute(5)), "choose one"},
	} {
		wantPanic(t, c.mend, func() { d.Serve(t, c.app) })
	}
}

// wantPanic wants a misuse to panic with its mend.
func wantPanic(t *testing.T, mend string, misuse func()) {
	t.Helper()
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, mend) || !strings.HasPrefix(text, "ratelimit: ") {
			t.Errorf("panic %q, want the mend %q", text, mend)
		}
	}()
	misuse()
}
