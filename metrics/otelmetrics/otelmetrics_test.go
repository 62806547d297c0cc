package otelmetrics_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/metrics/otelmetrics"
	"github.com/ratelimit-go/ratelimit/metrics/tally"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

// recorder is a provider, and its meter, that keep what they are told as lines of
// "name{attributes} value".
type recorder struct {
	noop.MeterProvider
	err error

	mu       sync.Mutex // guards lines
	lines    []string
	callback metric.Callback
}

func (r *recorder) Meter(string, ...metric.MeterOption) metric.Meter { return meter{recorder: r} }

type meter struct {
	noop.Meter
	*recorder
}

func (m meter) Int64ObservableCounter(name string, _ ...metric.Int64ObservableCounterOption) (metric.Int64ObservableCounter, error) {
	return counter{name: name}, m.err
}

func (m meter) Int64ObservableGauge(name string, _ ...metric.Int64ObservableGaugeOption) (metric.Int64ObservableGauge, error) {
	return gauge{name: name}, m.err
}

func (m meter) Float64Histogram(name string, _ ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return &histogram{name: name, to: m.recorder}, m.err
}

func (m meter) RegisterCallback(f metric.Callback, _ ...metric.Observable) (metric.Registration, error) {
	m.callback = f
	return noop.Registration{}, m.err
}

type counter struct {
	noop.Int64ObservableCounter
	name string
}

type gauge struct {
	noop.Int64ObservableGauge
	name string
}

type histogram struct {
	noop.Float64Histogram
	name string
	to   *recorder
}

func (h *histogram) Record(_ context.Context, v float64, options ...metric.RecordOption) {
	h.to.keep(h.name, metric.NewRecordConfig(options).Attributes(), v)
}

func (r *recorder) keep(name string, set attribute.Set, v any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprintf("%s{%s} %v", name, set.Encoded(attribute.DefaultEncoder()), v))
}

// observer is what a collection hands to the callback.
type observer struct {
	noop.Observer
	to *recorder
}

func (o observer) ObserveInt64(to metric.Int64Observable, v int64, options ...metric.ObserveOption) {
	name := ""
	switch i := to.(type) {
	case counter:
		name = i.name
	case gauge:
		name = i.name
	}
	o.to.keep(name, metric.NewObserveConfig(options).Attributes(), v)
}

// outside is a store outside.
type outside struct{ core.Store }

func (outside) BreakerOpen() bool { return true }
func (outside) DenialHits() int64 { return 12 }

func TestEveryInstrument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &recorder{}
		m := otelmetrics.New(otelmetrics.Options{Provider: to})
		store := core.NewMemory()
		m.Watch(store)
		m.Watch(outside{})
		limiter, err := core.NewLimiter(store, core.PerHour(4).Named("p"))
		if err != nil {
			t.Fatal(err)
		}
		for _, cost := range []int64{3, 4} {
			r, err := limiter.TakeN(t.Context(), cost, "192.0.2.1")
			if err != nil {
				t.Fatal(err)
			}
			m.Decided("GET /a", &r, pipeline.Admitted, 0)
		}
		m.Decided("", &core.Result{}, pipeline.Failed, time.Second)
		m.StoreAnswered(time.Second, errors.New("ERR"))
		m.Advised(pipeline.MountedTwice)
		if err := to.callback(t.Context(), observer{to: to}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		for _, want := range []string{
			"ratelimit.requests{http.route=GET /a,ratelimit.policy=p,ratelimit.result=admitted} 1",
			"ratelimit.requests{http.route=GET /a,ratelimit.policy=p,ratelimit.result=refused} 1",
			"ratelimit.undecided_requests{ratelimit.reason=failed} 1",
			"ratelimit.undecided_requests{ratelimit.reason=denied} 0",
			"ratelimit.active_clients{ratelimit.policy=p} 1",
			"ratelimit.remaining_ratio{ratelimit.policy=p} 0.25",
			"ratelimit.client.rejection_ratio{ratelimit.policy=p} 1",
			"ratelimit.held{} 1",
			"ratelimit.store.duration{} 1",
			"ratelimit.store.errors{error.type=server} 1",
			"ratelimit.store.keys{} 1",
			"ratelimit.store.overflows{} 0",
			"ratelimit.store.breakers_open{} 1",
			"ratelimit.denial_cache.hits{} 12",
			"ratelimit.advice{ratelimit.advice=mounted-twice} 1",
		} {
			if !slices.Contains(to.lines, want) {
				t.Errorf("no %s", want)
			}
		}
		if all := strings.Join(to.lines, "\n"); t.Failed() || strings.Contains(all, "192.0.2.1") {
			t.Errorf("told:\n%s", all)
		}
		time.Sleep(2 * time.Hour) // the timers end
	})
}

// TestOneTallyForAll: a tally that is given is counted by its own observer alone.
func TestOneTallyForAll(t *testing.T) {
	counts := tally.New(tally.Options{})
	m := otelmetrics.New(otelmetrics.Options{Provider: &recorder{}, Tally: counts})
	m.Decided("", &core.Result{}, pipeline.Failed, 0)
	if failed, _ := counts.Undecided(); failed != 0 {
		t.Error("it was counted twice")
	}
}

func TestTheGlobalProviderIsTheDefault(t *testing.T) {
	m := otelmetrics.New(otelmetrics.Options{})
	m.Decided("", &core.Result{}, pipeline.Failed, 0)
	if failed, _ := m.Undecided(); failed != 1 {
		t.Error("it was not counted")
	}
}

func TestAProviderThatRefuses(t *testing.T) {
	defer func() {
		if text := fmt.Sprint(recover()); !strings.Contains(text, "no room") {
			t.Errorf("panics with %s", text)
		}
	}()
	otelmetrics.New(otelmetrics.Options{Provider: &recorder{err: errors.New("no room")}})
}
