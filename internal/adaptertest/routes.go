package adaptertest

import (
	"strconv"
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

var routes = []testCase{
	{name: "ids of one route are counted together", run: idsTogether},
	{name: "all that is unmatched is one key", run: unmatched},
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
