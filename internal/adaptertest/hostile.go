package adaptertest

import (
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/internal/hostile"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

// One table of hostile input each, and the same answers in all frameworks.
var hostileInputs = []testCase{
	{name: "hostile clients", run: hostileClients, once: true},
	{name: "hostile values", run: hostileValues, once: true},
	{name: "an attack neither passes its limit nor spends another's", run: attacked},
}

// asking serves an app whose limiter asks the key that the test has chosen, and
// remembers what it has found.
func asking(t *testing.T, d Driver) (url string, chosen *atomic.Pointer[core.Key], found *atomic.Value) {
	chosen, found = new(atomic.Pointer[core.Key]), new(atomic.Value)
	a := App{Options: fixed(), Global: []Policies{{core.PerSecond(1_000_000).Named("p").WithoutKey(core.SkipNoKey).By(func(r core.Request) (string, error) {
		key, err := (*chosen.Load())(r)
		found.Store(key)
		return key, err
	})}}}
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		a.Routes = append(a.Routes, Route{method, "/", nil, ok})
	}
	return d.Serve(t, a), chosen, found
}

func hostileClients(t *testing.T, d Driver) {
	url, chosen, found := asking(t, d)
	for _, c := range hostile.Clients() {
		if c.Peer != hostile.LoopbackPeer {
			continue
		}
		key := keyfuncs.IP(c.Options()...)
		chosen.Store(&key)
		lines := []string{"Host: h"}
		for _, line := range c.Lines {
			lines = append(lines, line[0]+": "+line[1])
		}
		found.Store("nothing was asked")
		raw(t, url, "GET", "/", "", lines...)
		if got := found.Load(); got != c.Want {
			t.Errorf("%s: client %q, want %q", c.Name, got, c.Want)
		}
	}
}

func hostileValues(t *testing.T, d Driver) {
	url, chosen, found := asking(t, d)
	for _, c := range hostile.Values() {
		chosen.Store(&c.Key)
		lines := c.Lines
		if c.Body != "" {
			lines = append(lines, "Content-Length: "+strconv.Itoa(len(c.Body)))
		}
		found.Store("nothing was asked")
		got := raw(t, url, c.Method, c.Target, c.Body, lines...)
		if c.Malformed && got.status == 400 {
			continue // the server answers by itself
		}
		if found.Load() != c.Want {
			t.Errorf("%s: found %q, want %q (status %d)", c.Name, found.Load(), c.Want, got.status)
		}
	}
}
