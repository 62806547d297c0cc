package ratelimit_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
	ratelimit "github.com/ratelimit-go/ratelimit/nethttp"
)

// sink is a writer that costs nothing but its header, as a server's would.
type sink struct{ header http.Header }

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) Write(p []byte) (int, error) { return len(p), nil }
func (s *sink) WriteHeader(int)             {}

// BenchmarkPath is what the middleware adds to a request, fields included.
func BenchmarkPath(b *testing.B) {
	handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for _, c := range []struct {
		name string
		with http.Handler
	}{
		{"bare", handler},
		{"admitted", ratelimit.New(core.PerSecond(1_000_000_000).TokenBucket(1_000_000_000))(handler)},
		{"admitted, three policies", ratelimit.New(
			core.PerSecond(1_000_000_000).TokenBucket(1_000_000_000).Named("a"), core.PerSecond(900_000_000).TokenBucket(900_000_000).Named("b"),
			core.PerSecond(800_000_000).TokenBucket(800_000_000).Named("c"))(handler)},
		{"refused", ratelimit.New(core.Per(1, 366*24*60*60*1e9))(handler)},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := httptest.NewRequest("GET", "/", nil)
			w := &sink{make(http.Header)}
			c.with.ServeHTTP(w, r)
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				c.with.ServeHTTP(w, r)
			}
		})
	}
}
