// Package ratelimit limits the rate of requests in chi.
//
//	r.Use(ratelimit.New(core.PerMinute(100))) // for each client IP, in memory
//
// [New] stands for itself. [With] shares a store and answers between middlewares,
// each with the policies of its routes: see [Options]. All is as in the package for
// net/http, whose keys and options serve here too, but that keyfuncs.Route knows
// the pattern of chi: in Use at the root, in With and Group, in Route and Mount.
//
// Middleware that rewrites paths or methods (StripSlashes, CleanPath, GetHead)
// belongs outside the limiter. A router that is mounted behind other middleware, as
// in Mount("/api", auth(router)), is one route: give it that middleware by Use. The
// client's address is the peer's: behind proxies see keyfuncs.TrustProxies, and leave
// out chi's RealIP, which believes every peer's headers.
package ratelimit

import (
	"net/http"

	"github.com/ratelimit-go/ratelimit/core"
	ratelimit "github.com/ratelimit-go/ratelimit/nethttp"
)

// Options are what middlewares share, those of net/http. The zero Options is the
// default.
type Options = ratelimit.Options

// Limits makes middlewares that share [Options]: its New is like the function [New],
// on the shared store, and also panics on policies whose names do not fit the store.
type Limits = ratelimit.Limits

// New makes a middleware with a store of its own, in memory. All policies must
// admit a request; it is charged to all of them or to none. New panics without a
// policy, and on one that is not legal.
//
// Build it once, at start-up: one that is built for each request counts nothing, since
// its store is new as well.
func New(policies ...core.Policy) func(http.Handler) http.Handler {
	return With(Options{}).New(policies...)
}

// With makes Limits. It panics on Options that are not legal.
func With(o Options) *Limits { return ratelimit.WithRoutes(o, new(routes).of) }

// Key counts by what a function finds in the request, "" or [core.ErrNoKey] for
// nothing. Used in another framework than chi and net/http the key gives an error.
func Key(key func(*http.Request) (string, error)) core.Key { return ratelimit.Key(key) }

// User counts by the user that a function knows, false for none.
func User(user func(*http.Request) (string, bool)) core.Key { return ratelimit.User(user) }

// Results gives what has been decided of the request, the outermost middleware
// first: for handlers that answer less where a policy degrades.
func Results(r *http.Request) []*core.Result { return ratelimit.Results(r) }
