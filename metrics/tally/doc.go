// Package tally counts what rate limiters decide, for packages that show it: the
// Prometheus metrics of package metrics, the OpenTelemetry metrics of package
// otelmetrics, and the pages of package debug. Programs meet it where two of these
// are to show the same counts:
//
//	counts := tally.New(tally.Options{})
//	shown := debug.New(debug.Options{Tally: counts})
//	series := metrics.New(metrics.Options{Tally: counts})
//	limits := ratelimit.With(ratelimit.Options{
//		Observers: []pipeline.Observer{counts, series, shown},
//	})
//
// # What is bounded
//
// All memory is: at most 500 pairs of policy and route have counts of their own, and
// the rest is counted under the route "other"; of the clients of a policy the 512
// most refused are kept, and how many there are is estimated. No key becomes a
// label.
//
// # What it costs
//
// A decision is counted without a lock and without an allocation. A client's first
// refusal takes the lock of a 64th of its policy's clients, and copies its key.
// While requests come, one timer runs, once a minute; it stops when none do.
package tally
