package metrics_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/metrics"
	ratelimit "github.com/ratelimit-go/ratelimit/nethttp"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

func observer() *metrics.Metrics {
	return metrics.New(metrics.Options{Registerer: prometheus.NewRegistry()})
}

// result is a decision of one policy.
func result(t testing.TB, policy core.Policy) *core.Result {
	limiter, err := core.NewLimiter(nil, policy)
	if err != nil {
		t.Fatal(err)
	}
	r, err := limiter.Take(context.Background(), "192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	return &r
}

func outcomeOf(r *core.Result) pipeline.Outcome {
	if r.Allowed {
		return pipeline.Admitted
	}
	return pipeline.Refused
}

func TestADecisionIsCountedWithoutAnAllocation(t *testing.T) {
	m := observer()
	for _, policy := range []core.Policy{core.PerMinute(100).Named("open"), core.PerLimit(core.Blocked()).Named("shut")} {
		r := result(t, policy)
		outcome := outcomeOf(r)
		if n := testing.AllocsPerRun(1000, func() { m.Decided("GET /users/{id}", r, outcome, 0) }); n != 0 {
			t.Errorf("%s: %v allocations", policy.Name, n)
		}
	}
}

// BenchmarkDecided is what the metrics add to the path of a request.
func BenchmarkDecided(b *testing.B) {
	for _, c := range []struct {
		name   string
		policy core.Policy
	}{{"admitted", core.PerMinute(100).Named("open")}, {"refused", core.PerLimit(core.Blocked()).Named("shut")}} {
		b.Run(c.name, func(b *testing.B) {
			m, r := observer(), result(b, c.policy)
			outcome := outcomeOf(r)
			b.ReportAllocs()
			for b.Loop() {
				m.Decided("GET /users/{id}", r, outcome, 0)
			}
		})
	}
}

// BenchmarkPath is the path of a request, bare and with metrics: the route is
// looked up for them, too.
func BenchmarkPath(b *testing.B) {
	for _, c := range []struct {
		name      string
		observers []pipeline.Observer
	}{{"bare", nil}, {"metrics", []pipeline.Observer{observer()}}} {
		b.Run(c.name, func(b *testing.B) {
			limits := ratelimit.With(ratelimit.Options{Observers: c.observers})
			mux := http.NewServeMux()
			mux.Handle("GET /users/{id}", limits.New(core.PerSecond(1_000_000_000).TokenBucket(1_000_000_000))(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
			r, w := httptest.NewRequest("GET", "/users/1", nil), &discard{make(http.Header)}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				mux.ServeHTTP(w, r)
			}
		})
	}
}

// discard is a writer that costs nothing but its header.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}
