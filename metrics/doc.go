// Package metrics shows what rate limiters decide as Prometheus metrics.
//
//	limits := ratelimit.With(ratelimit.Options{
//		Observers: []pipeline.Observer{metrics.New(metrics.Options{})},
//	})
//	mux.Handle("GET /metrics", promhttp.Handler())
//
// [New] registers with the default registry. Several middlewares, and several
// [New] on one registry, share the counts.
//
// # What is shown
//
//	ratelimit_requests_total{policy,route,result}     decisions, policy by policy
//	ratelimit_undecided_requests_total{reason}        failed, or denied by network
//	ratelimit_active_clients{policy}                  keys in the last minute, estimated to 2.3 %
//	ratelimit_store_keys                              live keys in memory
//	ratelimit_store_overflows_total                   counted together: the store in memory was full
//	ratelimit_client_rejection_ratio{policy}          refused / asked by client and minute, of the most refused
//	ratelimit_remaining_ratio{policy}                 remaining / capacity at admission: who is near
//	ratelimit_held_seconds                            time that requests waited
//	ratelimit_store_duration_seconds                  time of a decision outside the process
//	ratelimit_store_errors_total{kind}                such as "timeout"
//	ratelimit_breakers_open                           stores not asked, since they do not answer
//	ratelimit_denial_cache_hits_total                 refusals without a round trip
//	ratelimit_advice_total{code}                      misuse: docs/advice.md
//	ratelimit_heaviest_client_refusals{policy,client} on request: see [Options]
//
// The result is each policy's own, whatever the others decided: admitted, held (and
// then admitted), refused, never (no wait can mend it), degraded, and
// dry_run_refused: what a new limit would refuse once it is enforced. Put the new
// limit beside the one in force, as PerMinute(60).Named("new").AsDryRun(), and watch
// that result.
//
// The route is the registered pattern, "unmatched" for none, and "other" beyond 500
// pairs of policy and route. No key is a label, unless Heaviest asks for a bounded
// number of them. What it costs and what is bounded: package tally.
package metrics
