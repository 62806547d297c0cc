// Package core is the engine: five exact algorithms over a store, without any
// HTTP.
//
//	limiter, err := core.NewLimiter(nil, core.PerSecond(10).TokenBucket(20))
//	...
//	r, err := limiter.Take(ctx, "tenant-7")
//	if !r.Allowed {
//		// try again after r.RetryAfter
//	}
//
// A [Policy] is one limit and how it counts. A [Limiter] decides a request by one
// or more of them at once: all admit it and are charged, or none is. A [Store]
// keeps the counts: [NewMemory] for one process, package redisstore for several.
//
// # Which algorithm
//
//   - [Policy.SlidingWindowCounter], the default: a few counters for each key, close
//     to the exact window, no burst at its edges.
//   - [Policy.SlidingWindowLog]: at most the limit in any window, exactly, at eight
//     bytes a unit. For small limits that must hold to the letter, such as logins.
//   - [Policy.FixedWindow]: quotas that start anew at the full minute or hour. Up to
//     twice the limit passes around an edge.
//   - [Policy.TokenBucket]: a steady rate that forgives bursts. For public APIs.
//   - [Policy.LeakyBucket]: a queue that leaves at an even pace. For what is behind
//     it and slow.
//
// # What is promised
//
// All arithmetic is in integers; memory and Redis give the same decisions to the
// microsecond. A refusal costs nothing. RetryAfter is the smallest wait after which
// the same request would be admitted if nothing else came. A clock that steps back
// locks nobody out for longer than twice a key's reset time, and gives at most one
// capacity more.
package core
