package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/metrics"
	"github.com/ratelimit-go/ratelimit/metrics/tally"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

// outside is a store that stands for one on a server, with all it may tell.
type outside struct{ core.Store }

func (outside) BreakerOpen() bool { return true }
func (outside) DenialHits() int64 { return 12 }

// decide has requests of a blocked and of an open policy counted.
func decide(t *testing.T, m *metrics.Metrics, keys ...string) {
	t.Helper()
	store := core.NewMemory()
	t.Cleanup(func() { _ = store.Close() })
	m.Watch(store)
	limiter, err := core.NewLimiter(store, core.PerHour(4).Named("open"), core.PerLimit(core.Blocked()).Named("shut").AsDryRun())
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		r, err := limiter.Take(context.Background(), key, key)
		if err != nil {
			t.Fatal(err)
		}
		m.Decided("GET /a/{id}", &r, pipeline.Admitted, 0)
	}
}

func scrape(t *testing.T, registry *prometheus.Registry) string {
	t.Helper()
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}).
		ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.Code != http.StatusOK {
		t.Fatalf("a scrape answers %d: %s", answer.Code, body)
	}
	return string(body)
}

// full is a registry with metrics of which every series has something to show.
func full(t *testing.T) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	m := metrics.New(metrics.Options{Registerer: registry, Heaviest: 2})
	decide(t, m, "192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.3")
	m.Decided("", &core.Result{}, pipeline.Failed, 300*time.Millisecond)
	m.Watch(outside{})
	m.StoreAnswered(2*time.Millisecond, nil)
	m.StoreAnswered(2*time.Millisecond, errors.New("ERR"))
	m.Advised(pipeline.MountedTwice)
	return registry
}

func TestEverySeries(t *testing.T) {
	text := scrape(t, full(t))
	for _, line := range []string{
		`ratelimit_requests_total{policy="open",result="admitted",route="GET /a/{id}"} 4`,
		`ratelimit_requests_total{policy="shut",result="dry_run_refused",route="GET /a/{id}"} 4`,
		`ratelimit_requests_total{policy="open",result="refused",route="GET /a/{id}"} 0`,
		`ratelimit_undecided_requests_total{reason="failed"} 1`,
		`ratelimit_undecided_requests_total{reason="denied"} 0`,
		`ratelimit_active_clients{policy="open"} 3`,
		`ratelimit_store_keys 3`,
		`ratelimit_store_overflows_total 0`,
		`ratelimit_remaining_ratio_bucket{policy="open",le="0.5"} 1`,
		`ratelimit_remaining_ratio_count{policy="open"} 4`,
		`ratelimit_client_rejection_ratio_count{policy="shut"} 0`,
		`ratelimit_held_seconds_sum 0.3`,
		`ratelimit_store_duration_seconds_bucket{le="0.0025"} 2`,
		`ratelimit_store_errors_total{kind="server"} 1`,
		`ratelimit_breakers_open 1`,
		`ratelimit_denial_cache_hits_total 12`,
		`ratelimit_advice_total{code="mounted-twice"} 1`,
		`ratelimit_advice_total{code="many-keys"} 0`,
		fmt.Sprintf(`ratelimit_heaviest_client_refusals{client=%q,policy="shut"} 2`, tally.KeyHash("192.0.2.1")),
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no %s", line)
		}
	}
	if n := strings.Count(text, "\nratelimit_heaviest_client_refusals{"); n != 2 {
		t.Errorf("%d clients are shown, want 2", n)
	}
	if strings.Contains(text, "192.0.2.") {
		t.Error("a key is shown")
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestPromtoolFindsNoFault(t *testing.T) {
	check := exec.Command("promtool", "check", "metrics")
	check.Stdin = strings.NewReader(scrape(t, full(t)))
	if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v: %s (promtool comes with Debian's package prometheus: apt-get install prometheus)", err, out)
	}
}

func TestNoClientIsShownUnasked(t *testing.T) {
	registry := prometheus.NewRegistry()
	decide(t, metrics.New(metrics.Options{Registerer: registry}), "192.0.2.1")
	if text := scrape(t, registry); strings.Contains(text, "heaviest") {
		t.Error(text)
	}
}

// TestKeysOnRequest: any bytes make a label that can be scraped.
func TestKeysOnRequest(t *testing.T) {
	registry := prometheus.NewRegistry()
	decide(t, metrics.New(metrics.Options{Registerer: registry, Heaviest: 9, ShowKeys: true}), "ann", "\x00ip:192.0.2.1", "\xff\n\"", strings.Repeat("k", 999))
	text := scrape(t, registry)
	for _, label := range []string{`"ann"`, `"\\x00ip:192.0.2.1"`, `"\\xff\\n\\\""`, `"` + tally.KeyHash(strings.Repeat("k", 999)) + `"`} {
		if !strings.Contains(text, "client="+label) {
			t.Errorf("no client=%s in\n%s", label, text)
		}
	}
}

func TestRegisteredTwiceCountsTogether(t *testing.T) {
	registry := prometheus.NewRegistry()
	first := metrics.New(metrics.Options{Registerer: registry})
	second := metrics.New(metrics.Options{Registerer: registry})
	decide(t, first, "a")
	decide(t, second, "b")
	if text := scrape(t, registry); !strings.Contains(text, `result="admitted",route="GET /a/{id}"} 2`) {
		t.Error(text)
	}
	if metrics.New(metrics.Options{Registerer: prometheus.NewRegistry()}) == first {
		t.Error("another registry has the same metrics")
	}
	if byDefault := metrics.New(metrics.Options{}); byDefault != metrics.New(metrics.Options{}) {
		t.Error("the default registry has two")
	}
}

func TestMisusePanicsWithTheMend(t *testing.T) {
	registry := prometheus.NewRegistry()
	taken := prometheus.NewRegistry()
	taken.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "ratelimit_store_keys", Help: "another"}))
	metrics.New(metrics.Options{Registerer: registry})
	for _, c := range []struct {
		options metrics.Options
		mend    string
	}{
		{metrics.Options{Heaviest: -1}, "give 0 to 100"},
		{metrics.Options{Heaviest: 101}, "give 0 to 100"},
		{metrics.Options{Registerer: registry, Tally: tally.New(tally.Options{})}, "give another Registerer"},
		{metrics.Options{Registerer: taken}, "cannot be registered"},
	} {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.Contains(text, c.mend) {
					t.Errorf("panics with %s, want %q", text, c.mend)
				}
			}()
			metrics.New(c.options)
		}()
	}
}
