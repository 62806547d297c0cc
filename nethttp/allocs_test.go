//go:build !race

package ratelimit_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/headers"
	ratelimit "github.com/ratelimit-go/ratelimit/nethttp"
)

// TestPathAllocations holds what the path costs: what the handler may keep (the result,
// the request with it in its context, and room for the fields) and the fields' text.
// Alone it is the fields only.
func TestPathAllocations(t *testing.T) {
	for _, c := range []struct {
		name    string
		options ratelimit.Options
		most    float64
	}{
		{"five fields", ratelimit.Options{}, 2},
		{"no fields", ratelimit.Options{Dialects: []headers.Dialect{headers.None}}, 1},
		{"alone", ratelimit.Options{Alone: true}, 2},
		{"alone, no fields", ratelimit.Options{Alone: true, Dialects: []headers.Dialect{headers.None}}, 0},
	} {
		handler := ratelimit.With(c.options).New(core.PerMinute(1_000_000))(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		r := httptest.NewRequest("GET", "/", nil)
		w := &sink{make(http.Header)}
		if n := testing.AllocsPerRun(1000, func() { handler.ServeHTTP(w, r) }); n > c.most {
			t.Errorf("%s: %v allocations for a request, want at most %v", c.name, n, c.most)
		}
	}
}
