package adaptertest

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
	ratelimit "github.com/ratelimit-go/ratelimit/nethttp"
)

var shared = []testCase{
	{name: "a policy shared with net/http is one budget", run: sharedWithNetHTTP},
	{name: "two programs share one budget", run: twoPrograms, redis: true},
	{name: "one policy on three routes is one budget, three names are three", run: oneNameOneBudget},
	{name: "one name with two limits is refused at start-up", run: twoLimits},
	{name: "a middleware made for each request, on a given store", run: perRequest},
}

var sharedPolicy = core.PerHour(4).FixedWindow().Named("shared")

// sharedWithNetHTTP: two adapters in one program, one store, one policy.
func sharedWithNetHTTP(t *testing.T, d Driver) {
	o := fixed()
	o.Store = d.store()()
	other := ratelimit.With(ratelimit.Options{Store: o.Store, Now: o.Now}).New(sharedPolicy)
	wantOneBudget(t, d.Serve(t, app(o, sharedPolicy)), Listen(t, App{}, other(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))))
}

func wantOneBudget(t *testing.T, urls ...string) {
	t.Helper()
	for i := range 8 {
		got := send(t, "GET", urls[i%len(urls)])
		if want := fmt.Sprint(max(0, 3-i)); got.header.Get("RateLimit-Remaining") != want || (got.status == 200) != (i < 4) {
			t.Errorf("request %d: status %d, %s left, want %s", i+1, got.status, got.header.Get("RateLimit-Remaining"), want)
		}
	}
}

// twoPrograms have a handle each on one store.
func twoPrograms(t *testing.T, d Driver) {
	open := d.store()
	var urls []string
	for range 2 {
		o := fixed()
		o.Store = open()
		urls = append(urls, d.Serve(t, app(o, sharedPolicy)))
	}
	wantOneBudget(t, urls...)
}

func oneNameOneBudget(t *testing.T, d Driver) {
	o := fixed()
	o.Store = d.store()()
	a := App{Options: o}
	for i := range 3 {
		own := sharedPolicy.Named(fmt.Sprintf("own%d", i))
		a.Routes = append(a.Routes, Route{"GET", fmt.Sprintf("/shared/%d", i), []Policies{{sharedPolicy}}, ok}, Route{"GET", fmt.Sprintf("/own/%d", i), []Policies{{own}}, ok})
	}
	url := d.Serve(t, a)
	wantOneBudget(t, url+"/shared/0", url+"/shared/1", url+"/shared/2")
	for i := range 3 {
		wantOneBudget(t, fmt.Sprintf("%s/own/%d", url, i))
	}
}

func twoLimits(t *testing.T, d Driver) {
	o := fixed()
	o.Store = d.store()()
	d.Serve(t, app(o, sharedPolicy))
	wantPanic(t, "give the second another name", func() { d.Serve(t, app(o, core.PerHour(5).FixedWindow().Named("shared"))) })
	wantPanic(t, "give it one with Named", func() { d.Serve(t, app(o, core.PerHour(5))) })
}

// perRequest: the name is the identity, so that it is one budget.
func perRequest(t *testing.T, d Driver) {
	o := fixed()
	o.Store = d.store()()
	a := app(o, sharedPolicy)
	a.PerRequest = true
	wantOneBudget(t, d.Serve(t, a))
}
