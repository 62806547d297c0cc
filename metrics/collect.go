package metrics

import (
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ratelimit-go/ratelimit/metrics/tally"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

// descriptions are those of all metrics. They never change.
var (
	requests   = describe("requests_total", "Decisions of each policy, by route and by what was decided.", "policy", "route", "result")
	undecided  = describe("undecided_requests_total", "Requests that were answered without a decision.", "reason")
	active     = describe("active_clients", "Keys seen by this instance in the last minute, estimated.", "policy")
	keys       = describe("store_keys", "Live keys of the stores in memory.")
	overflows  = describe("store_overflows_total", "Requests counted together because the store in memory was full.")
	rejection  = describe("client_rejection_ratio", "Refused by asked, of each of the most refused clients that asked in a minute.", "policy")
	remaining  = describe("remaining_ratio", "Remaining by capacity, of each admitted request.", "policy")
	held       = describe("held_seconds", "Time that requests waited for their turn or for units.")
	answered   = describe("store_duration_seconds", "Time that a decision of a store outside took.")
	failures   = describe("store_errors_total", "Errors of the stores outside.", "kind")
	breakers   = describe("breakers_open", "Stores that are not asked because they do not answer.")
	denialHits = describe("denial_cache_hits_total", "Refusals that were answered without a round trip.")
	advice     = describe("advice_total", "Misuse that was pointed out.", "code")
	heaviest   = describe("heaviest_client_refusals", "Refusals of the most refused clients, a minute ago counting half.", "policy", "client")
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("ratelimit_"+name, help, labels, nil)
}

// Describe implements [prometheus.Collector].
func (m *Metrics) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		requests, undecided, active, keys, overflows, rejection, remaining,
		held, answered, failures, breakers, denialHits, advice, heaviest,
	} {
		descs <- d
	}
}

// Collect implements [prometheus.Collector].
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	s := sink{out}
	m.Requests(func(policy, route string, kind tally.Kind, n int64) {
		s.counter(requests, n, policy, strings.ToValidUTF8(route, "?"), kind.String())
	})
	failed, denied := m.Undecided()
	s.counter(undecided, failed, pipeline.Failed.String())
	s.counter(undecided, denied, pipeline.Denied.String())
	m.Policies(func(policy string, clients int64, near, rejected *tally.Histogram) {
		s.gauge(active, clients, policy)
		s.histogram(remaining, near, policy)
		s.histogram(rejection, rejected, policy)
	})
	s.histogram(held, m.Held())
	s.histogram(answered, m.Answered())
	m.StoreErrors(func(kind string, n int64) { s.counter(failures, n, kind) })
	m.Advice(func(a pipeline.Advice, n int64) { s.counter(advice, n, string(a)) })
	stores := m.ReadStores()
	s.gauge(keys, stores.Keys)
	s.counter(overflows, stores.Overflows)
	s.gauge(breakers, stores.OpenBreakers)
	s.counter(denialHits, stores.DenialHits)
	for _, c := range m.Heaviest(m.heaviest) {
		s.gauge(heaviest, c.Refused, c.Policy, m.label(c))
	}
}

func (m *Metrics) label(c tally.Client) string {
	if m.showKeys && c.Key != "" {
		return printable(c.Key)
	}
	return c.Hash
}

// sink takes the metrics of one scrape.
type sink struct{ out chan<- prometheus.Metric }

func (s sink) counter(d *prometheus.Desc, n int64, labels ...string) {
	s.out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
}

func (s sink) gauge(d *prometheus.Desc, n int64, labels ...string) {
	s.out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), labels...)
}

func (s sink) histogram(d *prometheus.Desc, h *tally.Histogram, labels ...string) {
	count, sum, buckets := h.Read()
	s.out <- prometheus.MustNewConstHistogram(d, count, sum, buckets, labels...)
}

// printable keeps a key, which a client may have written, fit for a label: valid
// UTF-8, with what cannot be printed escaped.
func printable(key string) string {
	quoted := strconv.QuoteToGraphic(key)
	return quoted[1 : len(quoted)-1]
}
