package metrics_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/metrics"
	ratelimit "github.com/ratelimit-go/ratelimit/nethttp"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

// A new limit is tried beside the one in force: what it would refuse is counted,
// and nobody is refused by it.
func ExampleNew() {
	registry := prometheus.NewRegistry() // without it: the default one
	limits := ratelimit.With(ratelimit.Options{
		Observers: []pipeline.Observer{metrics.New(metrics.Options{Registerer: registry})},
	})
	mux := http.NewServeMux()
	mux.Handle("GET /search", limits.New(
		core.PerMinute(100).Named("search"),
		core.PerMinute(2).Named("search-new").AsDryRun(),
	)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))

	server := httptest.NewServer(mux)
	defer server.Close()
	for range 5 {
		visit(server.URL + "/search")
	}
	for line := range strings.Lines(visit(server.URL + "/metrics")) {
		if strings.HasPrefix(line, "ratelimit_requests_total") && !strings.HasSuffix(line, " 0\n") {
			fmt.Print(line)
		}
	}
	// Output:
	// ratelimit_requests_total{policy="search",result="admitted",route="GET /search"} 5
	// ratelimit_requests_total{policy="search-new",result="admitted",route="GET /search"} 2
	// ratelimit_requests_total{policy="search-new",result="dry_run_refused",route="GET /search"} 3
}

func visit(url string) string {
	answer, err := http.Get(url)
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		panic(err)
	}
	return string(body)
}
