package metrics_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

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

// BenchmarkPath is the path of a request, bare and with metrics in turn: the route is
// looked up for them, too. Lower quartiles of turns of a thousand requests each.
func BenchmarkPath(b *testing.B) {
	paths := [2]func(){servePath(), servePath(observer())}
	var took [2][]float64
	b.ReportAllocs()
	for b.Loop() {
		for i, serve := range paths {
			began := time.Now()
			for range 1000 {
				serve()
			}
			took[i] = append(took[i], float64(time.Since(began).Nanoseconds())/1000)
		}
	}
	for i := range took {
		slices.Sort(took[i])
	}
	bare, observed := took[0][len(took[0])/4], took[1][len(took[1])/4]
	b.ReportMetric(bare, "bare-ns")
	b.ReportMetric(observed, "metrics-ns")
	b.ReportMetric(observed-bare, "added-ns")
}

// servePath serves one request after the other.
func servePath(observers ...pipeline.Observer) func() {
	limits := ratelimit.With(ratelimit.Options{Observers: observers})
	mux := http.NewServeMux()
	mux.Handle("GET /users/{id}", limits.New(core.PerSecond(1_000_000_000).TokenBucket(1_000_000_000))(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	r, w := httptest.NewRequest("GET", "/users/1", nil), &discard{make(http.Header)}
	return func() {
		clear(w.header)
		mux.ServeHTTP(w, r)
	}
}

// discard is a writer that costs nothing but its header.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}
