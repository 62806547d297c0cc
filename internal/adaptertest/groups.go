package adaptertest

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
)

var errBroken = errors.New("secret cause")

var groups = []testCase{
	{name: "groups in groups", run: func(t *testing.T, d Driver) { nestedGroups(t, d, false) }},
	{name: "mounts in mounts", run: func(t *testing.T, d Driver) { nestedGroups(t, d, true) }},
	{name: "refused outside, nothing inside is asked", run: chainAborted},
	{name: "the framework's error handler runs once", run: errorHandler, errors: true},
}

func window(name string, count int64) []Policies {
	return []Policies{{core.PerMinute(count).FixedWindow().Named(name)}}
}

// nestedGroups: a request meets the middlewares that it comes through, and no others.
func nestedGroups(t *testing.T, d Driver, mounted bool) {
	url := d.Serve(t, App{
		Options: fixed(), Global: window("all", 100), Routes: []Route{{"GET", "/", nil, ok}},
		Groups: []Group{{
			Path: "/api", Mounted: mounted, Limits: window("api", 50), Routes: []Route{{"GET", "/ping", nil, ok}},
			Groups: []Group{{
				Path: "/v1", Mounted: mounted, Limits: window("v1", 3),
				Routes: []Route{{"GET", "/users/{id}", window("users", 9), ok}, {"GET", "/teams/{id}", nil, ok}},
			}},
		}},
	})
	for _, c := range []struct {
		path      string
		status    int
		policies  string
		remaining string
	}{
		{"/api/v1/users/1", 200, `"all";r=99;t=60, "api";r=49;t=60, "v1";r=2;t=60, "users";r=8;t=60`, "2"},
		{"/api/v1/teams/1", 200, `"all";r=98;t=60, "api";r=48;t=60, "v1";r=1;t=60`, "1"},
		{"/api/ping", 200, `"all";r=97;t=60, "api";r=47;t=60`, "47"},
		{"/", 200, `"all";r=96;t=60`, "96"},
		{"/api/v1/users/2", 200, `"all";r=95;t=60, "api";r=46;t=60, "v1";r=0;t=60, "users";r=7;t=60`, "0"},
		{"/api/v1/users/3", 429, `"all";r=94;t=60, "api";r=45;t=60, "v1";r=0;t=60`, "0"},
		{"/api/v1/teams/2", 429, `"all";r=93;t=60, "api";r=44;t=60, "v1";r=0;t=60`, "0"},
		{"/api/ping", 200, `"all";r=92;t=60, "api";r=43;t=60`, "43"},
	} {
		got := get(t, url+c.path, c.status)
		got.wantField(t, "RateLimit", c.policies)
		got.wantField(t, "RateLimit-Remaining", c.remaining)
		if refused := c.status == 429; refused && !strings.Contains(got.body, `"violated-policies":["v1"]`) {
			t.Errorf("%s: body %s", c.path, got.body)
		}
	}
}

// chainAborted: also behind a hook that answers nothing, or aborts nothing.
func chainAborted(t *testing.T, d Driver) {
	for _, hook := range []func(Call, core.Result){nil, func(Call, core.Result) {}, func(c Call, _ core.Result) { c.Answer(429, "later") }} {
		var asked atomic.Int64
		inner := core.PerMinute(9).Named("inner").By(func(core.Request) (string, error) {
			asked.Add(1)
			return "k", nil
		})
		o := fixed()
		o.OnRefused = hook
		url := d.Serve(t, App{
			Options: o, Global: window("outer", 1),
			Groups: []Group{{Path: "/g", Limits: []Policies{{inner}}, Routes: []Route{
				{"GET", "/x", []Policies{{inner.Named("route")}}, counted(&asked)},
			}}},
		})
		get(t, url+"/g/x", 200, 429, 429)
		if n := asked.Load(); n != 3 {
			t.Errorf("%d calls of keys and handler, want the first request's 3", n)
		}
	}
}

// errorHandler: what a handler or a hook returns is answered by the framework, once;
// a default answer is none of its business.
func errorHandler(t *testing.T, d Driver) {
	for _, c := range []struct {
		name     string
		hook     bool
		path     string
		statuses []int
		runs     int64
	}{
		{"a handler's error", false, "/?fail=1", []int{409}, 1},
		{"a refusal", false, "/", []int{200, 429}, 0},
		{"a hook's error", true, "/", []int{200, 418}, 1},
		{"an error hook's error", true, "/?key=1", []int{418}, 1},
		{"a failing key", false, "/?key=1", []int{500}, 0},
	} {
		for _, outcomes := range watching {
			a := app(fixed(), core.PerMinute(1).By(d.Key(func(c Call) (string, error) {
				if c.Query("key") != "" {
					return "", errBroken
				}
				return "k", nil
			})), core.PerMinute(1).Named("outcome").Counting(outcomes))
			a.Errors = new(atomic.Int64)
			a.Routes[0].Handler = failing
			if c.hook {
				a.Options.OnRefused = func(c Call, _ core.Result) { c.Fail(418) }
				a.Options.OnError = func(c Call, _ error) { c.Fail(418) }
			}
			get(t, d.Serve(t, a)+c.path, c.statuses...)
			if n := a.Errors.Load(); n != c.runs {
				t.Errorf("%s: the error handler ran %d times, want %d", c.name, n, c.runs)
			}
		}
	}
}

func failing(c Call) {
	if c.Query("fail") != "" {
		c.Fail(409)
		return
	}
	ok(c)
}
