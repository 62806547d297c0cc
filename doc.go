// Package ratelimit is the front page of a family of packages that limit the rate
// of HTTP requests: for net/http, Gin, Echo, Fiber and chi, by five exact
// algorithms, in memory and on Redis. It holds no code.
//
//	import (
//		"github.com/ratelimit-go/ratelimit/core"
//		ratelimit "github.com/ratelimit-go/ratelimit/nethttp" // or gin, echo, fiber, chi
//	)
//
//	limit := ratelimit.New(core.PerMinute(100)) // for each client IP, in memory
//	http.ListenAndServe(":8080", limit(mux))
//
// # What to use
//
//   - A middleware: the package of the framework, nethttp, gin, echo, fiber or chi,
//     each named ratelimit. New is one line; With shares a store, answers and
//     networks between the middlewares of many routes.
//   - A policy, which says how much, how it is counted and what happens on excess:
//     package core. core.PerMinute(100) is a plain value with a chain of methods.
//   - Whom a request is counted against: package keyfuncs. The default is the
//     client's address, never one from a header.
//   - More than one instance: package core/redisstore.
//   - Jobs and queues, without HTTP: core.Limiter, with Take and Wait.
//   - A store of one's own: core.Store, and package core/storetest to prove it.
//
// # Algorithms
//
// Each is a method of core.Policy.
//
//   - SlidingWindowCounter, the default: two counters a key, no burst at a boundary.
//   - FixedWindow: one counter a key; up to twice the limit around a boundary.
//   - SlidingWindowLog: at most the limit in any window, exactly; eight bytes a unit.
//   - TokenBucket: a burst, then a steady rate.
//   - LeakyBucket: a queue; requests leave it evenly spaced.
//
// # Promises
//
//   - A request that is refused is charged nothing, and one that several policies
//     decide is charged to all of them or to none.
//   - Retry-After is true: who waits as long is admitted if nothing else came.
//   - Memory and Redis decide the same, to the microsecond, in integers.
//   - A store that is away never goes unsaid, and each policy says what happens
//     then: it decides in memory, lets pass, or answers 503.
//   - Whatever clients send, keys do not collide and secrets are stored as hashes.
package ratelimit
