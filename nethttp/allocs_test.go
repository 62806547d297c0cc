//go:build !race

package ratelimit_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
	ratelimit "github.com/ratelimit-go/ratelimit/nethttp"
)

// TestPathAllocations holds what the path costs: the exchange with all that hangs
// on it, the request with its context, and the values of the fields.
func TestPathAllocations(t *testing.T) {
	handler := ratelimit.New(core.PerMinute(1_000_000))(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	r := httptest.NewRequest("GET", "/", nil)
	w := &sink{make(http.Header)}
	if n := testing.AllocsPerRun(1000, func() { handler.ServeHTTP(w, r) }); n > 3 {
		t.Errorf("%v allocations for a request, want at most 3", n)
	}
}
