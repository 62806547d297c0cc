package metrics

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ratelimit-go/ratelimit/metrics/tally"
)

// Options are choices for [New]. The zero Options is the default.
type Options struct {
	// Registerer takes the metrics. Nil: [prometheus.DefaultRegisterer].
	Registerer prometheus.Registerer
	// Heaviest is the number of most refused clients to show as metrics of their
	// own, by the hash of their key: at most so many series at once, though their
	// labels change. At most 100. Zero: none.
	Heaviest int
	// ShowKeys shows them by the key itself. It may be a secret or personal.
	ShowKeys bool
	// Tally has counted, where others show the same counts; it is in Observers, too.
	// Nil: one of its own.
	Tally *tally.Tally
	// Logger is told of misuse that only the counts show. Nil: [slog.Default].
	Logger *slog.Logger
}

// Metrics counts decisions and shows the counts: a pipeline.Observer that is a
// [prometheus.Collector]. It is made by [New].
type Metrics struct {
	tally.View
	heaviest int
	showKeys bool
}

// New makes Metrics and registers them. Where the registry has some already, these
// are returned, and the other options are theirs. It panics on a Heaviest that is
// not in range, on two different Tally for one registry, and where the registry
// refuses the names.
func New(o Options) *Metrics {
	if o.Heaviest < 0 || o.Heaviest > 100 {
		panic(fmt.Sprintf("ratelimit: metrics.Options.Heaviest %d: give 0 to 100", o.Heaviest))
	}
	if o.Registerer == nil {
		o.Registerer = prometheus.DefaultRegisterer
	}
	m := &Metrics{View: tally.NewView(o.Tally, tally.Options{Logger: o.Logger}), heaviest: o.Heaviest, showKeys: o.ShowKeys}
	err := o.Registerer.Register(m)
	if err == nil {
		return m
	}
	var already prometheus.AlreadyRegisteredError
	if !errors.As(err, &already) {
		panic("ratelimit: metrics cannot be registered: " + err.Error())
	}
	there, ok := already.ExistingCollector.(*Metrics)
	if !ok || o.Tally != nil && o.Tally != there.Tally {
		panic("ratelimit: the registry has other metrics of these names: give another Registerer, or the same Tally")
	}
	return there
}
