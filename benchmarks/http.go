package main

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/headers"
)

// site is a server with or without a middleware. Each call gives a client of its
// own, with everything that a request needs ready, so that the middleware is timed
// and not the client.
type site func() visit

// visit is one request, and gives the answer's status.
type visit func() (status int)

// framework is one way to serve HTTP, bare, with our middleware and with those that
// its users have.
type framework struct {
	name  string
	bare  func() site
	ours  func(alone bool, p core.Policy, d ...headers.Dialect) site
	peers []webPeer
}

type webPeer struct {
	name string
	open func(quota) site
}

// webEntry is one contender of a framework.
type webEntry struct {
	entry
	open func(quota) site
}

const (
	fiveFields = "token bucket, five fields"
	pairFields = "token bucket, draft-11 pair"
	noFields   = "token bucket, no fields"
	counter    = "sliding-window counter, five fields"

	// With Options.Alone nothing is put into the request's context: none of the peers
	// does that either.
	fiveAlone = "token bucket, five fields, alone"
	noneAlone = "token bucket, no fields, alone"
)

// httpGroup measures what the middleware adds to the bare framework.
func httpGroup(s settings, r *report) {
	r.title("HTTP")
	results := map[string][]entry{}
	for _, f := range frameworks {
		progress("http: %s", f.name)
		results[f.name] = f.measure(s, r)
	}
	for _, f := range frameworks {
		f.judge(r, results)
	}
}

func (f framework) contenders() []webEntry {
	own := func(name string, alone bool, policy func(quota) core.Policy, dialects ...headers.Dialect) webEntry {
		return webEntry{entry{name: name, kind: ours}, func(q quota) site {
			return f.ours(alone, policy(q).Named("bench"), dialects...)
		}}
	}
	all := []webEntry{
		own(fiveFields, false, token),
		own(pairFields, false, token, headers.Draft11),
		own(noFields, false, token, headers.None),
		own(counter, false, slidingCounter),
		own(fiveAlone, true, token),
		own(noneAlone, true, token, headers.None),
	}
	for _, p := range f.peers {
		all = append(all, webEntry{entry{name: p.name, kind: peer}, p.open})
	}
	return all
}

// measure times the bare framework and every contender in turn, and takes the one
// from the others.
func (f framework) measure(s settings, r *report) []entry {
	all := f.contenders()
	visits := []visit{f.bare()()}
	for _, c := range all {
		mustRefuse(f.name+" "+c.name, c.open(few(1))())
		visits = append(visits, c.open(plenty)())
	}
	samples := race(s.rounds, len(visits), func(i int) float64 { return timeVisit(s, visits[i]) })
	bare := allocationsOf(visits[0])
	entries := make([]entry, len(all))
	for i, c := range all {
		c.sample = samples[i+1].minus(samples[0])
		c.allocs = allocationsOf(visits[i+1]) - bare
		c.extra = []string{figure(c.allocs), correctSite(c.open(few(100)))}
		entries[i] = c.entry
	}
	r.ranking(f.name, fmt.Sprintf("What the middleware adds to the %s ns and %s allocations of the bare framework, one client admitted by its address.",
		figure(samples[0].median()), figure(bare)), "ns added", []string{"allocations added", "admitted"}, entries)
	return entries
}

func timeVisit(s settings, v visit) float64 {
	wrong := 0
	ns := nanoseconds(s.turn, func() {
		if v() != http.StatusOK {
			wrong++
		}
	})
	check(wrong == 0, "%d answers were not 200", wrong)
	return ns
}

func allocationsOf(v visit) float64 { return testing.AllocsPerRun(1000, func() { v() }) }

func mustRefuse(name string, v visit) {
	first, second := v(), v()
	check(first == http.StatusOK && second == http.StatusTooManyRequests, "%s at a limit of 1: status %d, again %d", name, first, second)
}

// correctSite is admitted for a site: each goroutine takes a client of its own out
// of a pool.
func correctSite(s site) string {
	clients := make(chan visit, 128)
	for range cap(clients) {
		clients <- s()
	}
	return admitted(func() bool {
		v := <-clients
		defer func() { clients <- v }()
		return v() == http.StatusOK
	})
}

// judge holds a framework's results against what must be reached.
func (f framework) judge(r *report, results map[string][]entry) {
	entries := results[f.name]
	r.atMost("9", f.name+", allocations, "+fiveFields, 4, named(entries, fiveFields).allocs, "")
	r.atMost("9", f.name+", allocations, "+noFields, 2, named(entries, noFields).allocs, "")
	switch f.name {
	case "Echo":
		r.atMost("9", "Echo, no fields, to its built-in", 1, ratio(entries, noFields, named(entries, builtIn).sample), "")
	case "Fiber":
		r.atMost("9", "Fiber, five fields, to its built-in", 0.8, ratio(entries, fiveFields, named(entries, builtIn).sample), "")
	default:
		for _, name := range []string{httprateName, ululeName} {
			other := rival(results, f.name, name)
			r.atMost("9", f.name+", five fields, to "+name, 0.5, ratio(entries, fiveFields, other), "")
			r.atMost("9", f.name+", draft-11 pair, to "+name, 0.35, ratio(entries, pairFields, other), "")
		}
	}
}

// rival is what a peer adds in the framework, or in net/http where it has nothing
// for it.
func rival(results map[string][]entry, framework, name string) sample {
	for _, e := range results[framework] {
		if e.name == name {
			return e.sample
		}
	}
	return named(results["net/http"], name).sample
}
