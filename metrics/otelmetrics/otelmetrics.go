// Package otelmetrics shows what rate limiters decide as OpenTelemetry metrics: the
// same as package metrics does for Prometheus, without it.
//
//	limits := ratelimit.With(ratelimit.Options{
//		Observers: []pipeline.Observer{otelmetrics.New(otelmetrics.Options{})},
//	})
//
// Make one, and give it to all middlewares. The instruments are
//
//	ratelimit.requests               {ratelimit.policy, http.route, ratelimit.result}
//	ratelimit.undecided_requests     {ratelimit.reason}
//	ratelimit.active_clients         {ratelimit.policy}
//	ratelimit.client.rejection_ratio {ratelimit.policy}
//	ratelimit.remaining_ratio        {ratelimit.policy}
//	ratelimit.held
//	ratelimit.store.duration
//	ratelimit.store.errors           {error.type}
//	ratelimit.store.keys
//	ratelimit.store.overflows
//	ratelimit.store.breakers_open
//	ratelimit.denial_cache.hits
//	ratelimit.advice                 {ratelimit.advice}
//
// and mean what package metrics says of those of the same name. Counts are read when
// they are collected; what is recorded on the path of a request is the remaining
// ratio, and the times.
package otelmetrics

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/metrics/tally"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

// Options are choices for [New]. The zero Options is the default.
type Options struct {
	// Provider makes the instruments. Nil: [otel.GetMeterProvider].
	Provider metric.MeterProvider
	// Tally has counted, where others show the same counts; it is in Observers, too,
	// and the rejection ratio is not shown. Nil: one of its own.
	Tally *tally.Tally
}

// Metrics is a pipeline.Observer that records. It is made by [New].
type Metrics struct {
	tally.View
	instruments
	byPolicy sync.Map // policy name -> []metric.RecordOption
}

// New makes Metrics. It panics where the provider refuses an instrument.
func New(o Options) *Metrics {
	if o.Provider == nil {
		o.Provider = otel.GetMeterProvider()
	}
	m := &Metrics{}
	m.View = tally.NewView(o.Tally, tally.Options{OnMinute: func(policy string, share float64) {
		m.rejection.Record(context.Background(), share, m.of(policy)...)
	}})
	meter := o.Provider.Meter("github.com/ratelimit-go/ratelimit")
	if err := m.make(meter); err != nil {
		panic("ratelimit: the meter refuses an instrument: " + err.Error())
	}
	if _, err := meter.RegisterCallback(m.collect, m.observed()...); err != nil {
		panic("ratelimit: the meter refuses a callback: " + err.Error())
	}
	return m
}

// Decided implements pipeline.Observer.
func (m *Metrics) Decided(route string, r *core.Result, outcome pipeline.Outcome, held time.Duration) {
	m.View.Decided(route, r, outcome, held)
	if held > 0 {
		m.held.Record(context.Background(), held.Seconds())
	}
	for i := range r.Len() {
		if a := r.Ask(i); a.Allowed && a.Terms.Capacity > 0 && !a.Terms.Limit.IsUnlimited() {
			m.remaining.Record(context.Background(), float64(a.Remaining)/float64(a.Terms.Capacity), m.of(a.Terms.Policy)...)
		}
	}
}

// StoreAnswered implements pipeline.Observer.
func (m *Metrics) StoreAnswered(took time.Duration, err error) {
	m.View.StoreAnswered(took, err)
	m.answered.Record(context.Background(), took.Seconds())
}

// of is a policy's attributes, made once.
func (m *Metrics) of(policy string) []metric.RecordOption {
	if known, ok := m.byPolicy.Load(policy); ok {
		return known.([]metric.RecordOption)
	}
	made := []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(attribute.String("ratelimit.policy", policy)))}
	m.byPolicy.Store(policy, made)
	return made
}
