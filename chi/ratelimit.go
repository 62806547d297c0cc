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
	"context"
	"net/http"

	"github.com/ratelimit-go/ratelimit/core"
	ratelimit "github.com/ratelimit-go/ratelimit/nethttp"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

type (
	onRefused = func(http.ResponseWriter, *http.Request, core.Result)
	onError   = func(http.ResponseWriter, *http.Request, error)
)

// Options are what middlewares share, those of net/http. The zero Options is the
// default.
type Options = ratelimit.Options

// Limits makes middlewares that share [Options].
type Limits struct {
	limits *pipeline.Limits[*http.Request, onRefused, onError]
	routes routes
}

// New makes a middleware with a store of its own, in memory. All policies must
// admit a request; it is charged to all of them or to none. New panics without a
// policy, and on one that is not legal.
func New(policies ...core.Policy) func(http.Handler) http.Handler {
	return With(Options{}).New(policies...)
}

// With makes Limits. It panics on Options that are not legal.
func With(o Options) *Limits { return &Limits{limits: pipeline.With(o)} }

// New makes a middleware, like the function [New], on the shared store. It also
// panics on policies whose names do not fit the store: see [Options].
func (l *Limits) New(policies ...core.Policy) func(http.Handler) http.Handler {
	path := l.limits.Path(policies...)
	return func(next http.Handler) http.Handler {
		return &handler{path: path, shared: l, next: next}
	}
}

// Key counts by what a function finds in the request, "" or [core.ErrNoKey] for
// nothing. Used in another framework than chi and net/http the key gives an error.
func Key(key func(*http.Request) (string, error)) core.Key { return ratelimit.Key(key) }

// User counts by the user that a function knows, false for none.
func User(user func(*http.Request) (string, bool)) core.Key { return ratelimit.User(user) }

// Results gives what has been decided of the request, the outermost middleware
// first: for handlers that answer less where a policy degrades.
func Results(r *http.Request) []*core.Result { return ratelimit.Results(r) }

// handler is the middleware around a handler.
type handler struct {
	path   *pipeline.Path[*http.Request]
	shared *Limits
	next   http.Handler
}

// ServeHTTP takes the request along the path.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.path.Serve(&exchange{handler: h, w: w, HTTP: pipeline.HTTP{Request: r}})
}

// exchange is chi's view of one request.
type exchange struct {
	pipeline.Visit
	pipeline.HTTP
	*handler
	w http.ResponseWriter
}

func (x *exchange) Native() any                    { return x.Request }
func (x *exchange) Route() (string, error)         { return x.shared.routes.of(x.Request) }
func (x *exchange) SetContext(ctx context.Context) { x.Request = x.Request.WithContext(ctx) }
func (x *exchange) SetField(name, value string)    { x.SetHTTPField(x.w.Header(), name, value) }
func (x *exchange) Answer(status int, body string) { pipeline.AnswerHTTP(x.w, status, body) }

func (x *exchange) OnRefused(r core.Result) (written bool) {
	hook := x.shared.limits.Options.OnRefused
	if hook == nil {
		return false
	}
	recorder, w := pipeline.NewRecorder(x.w)
	hook(w, x.Request, r)
	return recorder.Written()
}

func (x *exchange) OnError(err error) (written bool) {
	hook := x.shared.limits.Options.OnError
	if hook == nil {
		return false
	}
	recorder, w := pipeline.NewRecorder(x.w)
	hook(w, x.Request, err)
	return recorder.Written()
}

func (x *exchange) Next(watch bool) (status int) {
	if !watch {
		x.next.ServeHTTP(x.w, x.Request)
		return http.StatusOK
	}
	recorder, w := pipeline.NewRecorder(x.w)
	x.next.ServeHTTP(w, x.Request)
	return recorder.Status()
}
