package otelmetrics

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/ratelimit-go/ratelimit/metrics/tally"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

// instruments are all that there are.
type instruments struct {
	requests, undecided, failures, overflows, denialHits, advice metric.Int64ObservableCounter
	active, keys, breakers                                       metric.Int64ObservableGauge
	rejection, remaining, held, answered                         metric.Float64Histogram
}

func (i *instruments) make(meter metric.Meter) error {
	var all []error
	counter := func(to *metric.Int64ObservableCounter, name, unit, about string) {
		made, err := meter.Int64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(about))
		*to, all = made, append(all, err)
	}
	gauge := func(to *metric.Int64ObservableGauge, name, unit, about string) {
		made, err := meter.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(about))
		*to, all = made, append(all, err)
	}
	histogram := func(to *metric.Float64Histogram, name, unit, about string, bounds []float64) {
		made, err := meter.Float64Histogram(name, metric.WithUnit(unit), metric.WithDescription(about), metric.WithExplicitBucketBoundaries(bounds...))
		*to, all = made, append(all, err)
	}
	counter(&i.requests, "ratelimit.requests", "{request}", "Decisions of each policy, by route and by what was decided.")
	counter(&i.undecided, "ratelimit.undecided_requests", "{request}", "Requests that were answered without a decision.")
	counter(&i.failures, "ratelimit.store.errors", "{error}", "Errors of the stores outside.")
	counter(&i.overflows, "ratelimit.store.overflows", "{request}", "Requests counted together because the store in memory was full.")
	counter(&i.denialHits, "ratelimit.denial_cache.hits", "{request}", "Refusals that were answered without a round trip.")
	counter(&i.advice, "ratelimit.advice", "{advice}", "Misuse that was pointed out.")
	gauge(&i.active, "ratelimit.active_clients", "{client}", "Keys seen by this instance in the last minute, estimated.")
	gauge(&i.keys, "ratelimit.store.keys", "{key}", "Live keys of the stores in memory.")
	gauge(&i.breakers, "ratelimit.store.breakers_open", "{store}", "Stores that are not asked because they do not answer.")
	histogram(&i.rejection, "ratelimit.client.rejection_ratio", "1", "Refused by asked, of each of the most refused clients that asked in a minute.", tally.ShareBounds())
	histogram(&i.remaining, "ratelimit.remaining_ratio", "1", "Remaining by capacity, of each admitted request.", tally.ShareBounds())
	histogram(&i.held, "ratelimit.held", "s", "Time that requests waited for their turn or for units.", tally.DurationBounds())
	histogram(&i.answered, "ratelimit.store.duration", "s", "Time that a decision of a store outside took.", tally.DurationBounds())
	return errors.Join(all...)
}

// observed are those that collect fills in.
func (i *instruments) observed() []metric.Observable {
	return []metric.Observable{i.requests, i.undecided, i.failures, i.overflows, i.denialHits, i.advice, i.active, i.keys, i.breakers}
}

// collect tells the counts.
func (m *Metrics) collect(_ context.Context, o metric.Observer) error {
	m.Requests(func(policy, route string, kind tally.Kind, n int64) {
		if n > 0 {
			o.ObserveInt64(m.requests, n, metric.WithAttributes(attribute.String("ratelimit.policy", policy),
				attribute.String("http.route", route), attribute.String("ratelimit.result", kind.String())))
		}
	})
	failed, denied := m.Undecided()
	o.ObserveInt64(m.undecided, failed, with("ratelimit.reason", pipeline.Failed.String()))
	o.ObserveInt64(m.undecided, denied, with("ratelimit.reason", pipeline.Denied.String()))
	m.Policies(func(policy string, clients int64, _, _ *tally.Histogram) {
		o.ObserveInt64(m.active, clients, with("ratelimit.policy", policy))
	})
	m.StoreErrors(func(kind string, n int64) { o.ObserveInt64(m.failures, n, with("error.type", kind)) })
	m.Advice(func(a pipeline.Advice, n int64) { o.ObserveInt64(m.advice, n, with("ratelimit.advice", string(a))) })
	stores := m.ReadStores()
	o.ObserveInt64(m.keys, stores.Keys)
	o.ObserveInt64(m.overflows, stores.Overflows)
	o.ObserveInt64(m.breakers, stores.OpenBreakers)
	o.ObserveInt64(m.denialHits, stores.DenialHits)
	return nil
}

func with(name, value string) metric.ObserveOption {
	return metric.WithAttributes(attribute.String(name, value))
}
