package adaptertest

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

var routes = []testCase{
	{name: "ids of one route are counted together", run: idsTogether},
	{name: "all that is unmatched is one key", run: unmatched},
	{name: "however a path is written, one handler is one route", run: spelled, once: true},
	{name: "HEAD beside GET is one budget", run: headBesideGet},
	{name: "a handler for any method is one budget", run: anyMethod},
	{name: "10,000 random paths leave one key", run: randomPaths, once: true, alone: true},
}

func routeApp(global bool) App {
	limit := []Policies{{core.PerMinute(3).Named("route").By(keyfuncs.IP(), keyfuncs.Route())}}
	a := App{Options: fixed(), Routes: []Route{
		{"GET", "/users/{id}", limit, ok}, {"POST", "/users/{id}", limit, ok}, {"GET", "/teams/{id}", limit, ok},
	}}
	if global {
		a.Global = limit
		for i := range a.Routes {
			a.Routes[i].Limits = nil
		}
	}
	return a
}

func idsTogether(t *testing.T, d Driver) {
	for _, global := range []bool{false, true} {
		url := d.Serve(t, routeApp(global))
		for i, want := range []int{200, 200, 200, 429, 429} {
			get(t, url+"/users/"+strconv.Itoa(i), want)
		}
		get(t, url+"/teams/1", 200, 200, 200, 429)
		wantStatus(t, send(t, "POST", url+"/users/1"), 200)
	}
}

func unmatched(t *testing.T, d Driver) {
	url := d.Serve(t, routeApp(true))
	for i, method := range []string{"GET", "POST", "DELETE", "BREW", "GET", "BREW"} {
		got := send(t, method, url+"/nowhere/"+strconv.Itoa(i))
		if limited := got.status == 429; limited != (i >= 3) {
			t.Errorf("request %d of nothing: status %d", i+1, got.status)
		}
	}
	wantStatus(t, send(t, "DELETE", url+"/users/1"), 429) // no such method there
	get(t, url+"/users/1", 200)
}

func headBesideGet(t *testing.T, d Driver) {
	limit := []Policies{{core.PerMinute(3).Named("route").By(keyfuncs.Route())}}
	wantOneRouteBudget(t, d, []string{"GET", "HEAD", "HEAD", "GET"},
		App{Options: fixed(), Global: limit, Routes: []Route{{"GET", "/p/{id}", nil, ok}, {"HEAD", "/p/{id}", nil, ok}}},
		App{Options: fixed(), Routes: []Route{{"GET", "/p/{id}", limit, ok}, {"HEAD", "/p/{id}", limit, ok}}})
}

func anyMethod(t *testing.T, d Driver) {
	limit := []Policies{{core.PerMinute(3).Named("route").By(keyfuncs.Route())}}
	wantOneRouteBudget(t, d, []string{"GET", "PUT", "HEAD", "POST"},
		App{Options: fixed(), Global: limit, Routes: []Route{{AnyMethod, "/p/{id}", nil, ok}}},
		App{Options: fixed(), Routes: []Route{{AnyMethod, "/p/{id}", limit, ok}}})
}

// wantOneRouteBudget wants a budget of 3 for all methods.
func wantOneRouteBudget(t *testing.T, d Driver, methods []string, apps ...App) {
	t.Helper()
	for _, a := range apps {
		url := d.Serve(t, a)
		for i, method := range methods {
			if got := send(t, method, url+"/p/"+strconv.Itoa(i)); (got.status == 200) != (i < 3) {
				t.Errorf("request %d, %s: status %d", i+1, method, got.status)
			}
		}
	}
}

// places are where a limiter can stand in one app.
var places = []string{"top", "group", "inner group", "route"}

// town is an app with a limiter at one place, whose handlers tell who they are.
func town(place string, mounted bool, policy core.Policy) App {
	limit := func(at string) []Policies {
		if at == place {
			return []Policies{{policy}}
		}
		return nil
	}
	route := func(method, path, name string) Route {
		return Route{method, path, limit("route"), func(c Call) {
			c.SetField("X-Handler", name)
			ok(c)
		}}
	}
	return App{
		Options: fixed(), Global: limit("top"),
		Routes: []Route{route("GET", "/", "root"), route("GET", "/users/{id}", "user"), route("POST", "/users/{id}", "change"), route("PUT", "/only", "put")},
		Groups: []Group{{
			Path: "/api", Mounted: mounted, Limits: limit("group"), Routes: []Route{route("GET", "/ping", "ping")},
			Groups: []Group{{
				Path: "/v1", Mounted: mounted, Limits: limit("inner group"),
				Routes: []Route{route("GET", "/users/{id}", "inner user"), route("DELETE", "/users/{id}", "inner delete"), route("GET", "/teams/{id}", "team")},
			}},
		}},
	}
}

// spellings are ways to write a path in a request line.
func spellings(path string) []string {
	return []string{
		path, path + "/", path + "//", "/" + path, path + "/.", path + "/..", path + "?q=/users/1", path + "%2F", path + "%00", path + ";x=1",
		"/." + path, "/x/.." + path, strings.ToUpper(path), strings.ReplaceAll(path, "s", "%73"), strings.ReplaceAll(path, "/", "%2F"),
		strings.ReplaceAll(path, "/", "//"), "http://h" + path, path + "/" + strings.Repeat("x", 500), path + "%e2%98%83", path + "é",
	}
}

// methodsFor are all methods for a plain path, and for other spellings those that
// read.
func methodsFor(path, target string) []string {
	if path == target {
		return []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "BREW", "get"}
	}
	return []string{"GET", "HEAD"}
}

func spelled(t *testing.T, d Driver) {
	for _, place := range places {
		for _, mounted := range []bool{false, true} {
			var counted atomic.Value
			key := keyfuncs.Route()
			a := town(place, mounted, core.PerSecond(1_000_000).Named("p").By(func(r core.Request) (string, error) {
				route, err := key(r)
				counted.Store(route)
				return route, err
			}))
			url, seen := d.Serve(t, a), map[string]string{} // route by handler
			for _, path := range []string{"/", "/users/1", "/only", "/api", "/api/ping", "/api/v1/users/1", "/api/v1/teams/1", "/nowhere", "/users"} {
				for _, target := range spellings(path) {
					for _, method := range methodsFor(path, target) {
						counted.Store("")
						got := raw(t, url, method, target, "", "Host: h")
						at := fmt.Sprintf("%s (mounted %v): %s %.40s", place, mounted, method, target)
						wantOneRoute(t, at, got, counted.Load().(string), seen)
					}
				}
			}
			if least := map[string]int{"top": 7, "group": 3, "inner group": 2, "route": 7}[place]; len(seen) < least {
				t.Errorf("%s (mounted %v): only %v were reached", place, mounted, seen)
			}
		}
	}
}

// wantOneRoute: a handler has one route, that of no other. What none serves is
// "unmatched", does not come to the limiter, or is sent on to another path.
func wantOneRoute(t *testing.T, at string, got answer, route string, seen map[string]string) {
	t.Helper()
	handler := got.header.Get("X-Handler")
	switch known, ok := seen[handler]; {
	case handler == "" && (route == "" || route == "unmatched" || got.status/100 == 3):
		return
	case handler == "":
		t.Errorf("%s: status %d is counted as %q, want \"unmatched\"", at, got.status, route)
	case route == "" && !ok: // the limiter stands elsewhere
		return
	case route == "unmatched" || ok && known != route:
		t.Errorf("%s: %s is counted as %q and as %q", at, handler, route, known)
	}
	for other, known := range seen {
		if other != handler && known == route {
			t.Errorf("%s: %s and %s are both counted as %q", at, handler, other, route)
		}
	}
	if handler != "" {
		seen[handler] = route
	}
}

// randomPaths: nothing that no route serves opens a new key, wherever the limiter
// stands.
func randomPaths(t *testing.T, d Driver) {
	for _, c := range []struct {
		place   string
		mounted bool
		each    int // paths of each of 10 clients
	}{{"top", false, 1000}, {"top", true, 100}, {"group", false, 100}, {"group", true, 100}, {"inner group", true, 100}} {
		store := core.NewMemory()
		a := town(c.place, c.mounted, core.PerMinute(1).Named("p").By(keyfuncs.IP(), keyfuncs.Route()))
		a.Options.Store = store
		askAtRandom(t, d.Serve(t, a), c.each)
		if n := store.Len(); n > 1 || c.place == "top" && n != 1 {
			t.Errorf("%s (mounted %v): %d keys are counted, want 1", c.place, c.mounted, n)
		}
	}
}

func askAtRandom(t *testing.T, url string, each int) {
	var wait sync.WaitGroup
	for client := range 10 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := range each {
				below := []string{"x", "api", "api/v1", "Users"}[i%4]
				send(t, []string{"GET", "POST", "BREW"}[i%3], fmt.Sprintf("%s/%s/%d-%d%s", url, below, client, i, strings.Repeat("/y", 1+i%7)))
			}
		}()
	}
	wait.Wait()
}
