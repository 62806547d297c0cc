// Package ratelimit limits the rate of requests to net/http handlers.
//
//	limit := ratelimit.New(core.PerMinute(100)) // for each client IP, in memory
//	http.ListenAndServe(":8080", limit(mux))
//
// [New] stands for itself. [With] shares a store and answers between middlewares,
// each with the policies of its routes: see [Options].
package ratelimit

import (
	"net/http"
	"sync"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/headers"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

type (
	// OnRefused answers what the policies refuse: see [Options].
	OnRefused = func(http.ResponseWriter, *http.Request, core.Result)
	// OnError answers what could not be decided: see [Options].
	OnError = func(http.ResponseWriter, *http.Request, error)
)

// Options are what middlewares share. The zero Options is the default.
type Options = pipeline.Options[*http.Request, OnRefused, OnError]

// Limits makes middlewares that share [Options].
type Limits struct {
	limits *pipeline.Limits[*http.Request, OnRefused, OnError]
	routes func(*http.Request) (string, error) // nil: those of [http.ServeMux]
}

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
func With(o Options) *Limits { return WithRoutes(o, nil) }

// WithRoutes is [With] for a router of its own, which tells the registered method
// and pattern of a request, as in "GET /users/{id}", "" where nothing matches. The
// packages of routers that stand on net/http are made with it.
func WithRoutes(o Options, routes func(*http.Request) (string, error)) *Limits {
	return &Limits{pipeline.With(o), routes}
}

// New makes a middleware, like the function [New], on the shared store. It also
// panics on policies whose names do not fit the store: see [Options].
func (l *Limits) New(policies ...core.Policy) func(http.Handler) http.Handler {
	path := l.limits.Path(policies...)
	return func(next http.Handler) http.Handler {
		return &handler{path: path, limits: l, next: next}
	}
}

// Key counts by what a function finds in the request, "" or [core.ErrNoKey] for
// nothing. Used in another framework the key gives an error.
func Key(key func(*http.Request) (string, error)) core.Key { return pipeline.KeyOf(key) }

// User counts by the user that a function knows, false for none.
func User(user func(*http.Request) (string, bool)) core.Key { return pipeline.UserOf(user) }

// Results gives what has been decided of the request, the outermost middleware
// first: for handlers that answer less where a policy degrades.
func Results(r *http.Request) []*core.Result { return pipeline.ResultsFrom(r.Context()) }

// handler is the middleware around a handler.
type handler struct {
	path   *pipeline.Path[*http.Request]
	limits *Limits
	next   http.Handler
}

// ServeHTTP takes the request along the path.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := exchanges.Get().(*exchange)
	x.handler, x.w, x.Request = h, w, r
	h.path.Serve(x)
	*x = exchange{}
	exchanges.Put(x)
}

// exchanges are those that no request uses.
var exchanges = sync.Pool{New: func() any { return new(exchange) }}

// exchange is net/http's view of one request.
type exchange struct {
	pipeline.HTTP
	*handler
	w http.ResponseWriter
}

func (x *exchange) Native() any                    { return x.Request }
func (x *exchange) SetFields(f []headers.Field)    { x.SetHTTPFields(x.w.Header(), f) }
func (x *exchange) Answer(status int, body string) { pipeline.AnswerHTTP(x.w, status, body) }

func (x *exchange) Route() (string, error) {
	if x.limits.routes != nil {
		return x.limits.routes(x.Request)
	}
	return route(x.next, x.Request)
}

func (x *exchange) OnRefused(r core.Result) (written bool) {
	hook := x.limits.limits.Options.OnRefused
	if hook == nil {
		return false
	}
	recorder, w := pipeline.NewRecorder(x.w)
	hook(w, x.Request, r)
	return recorder.Written()
}

func (x *exchange) OnError(err error) (written bool) {
	hook := x.limits.limits.Options.OnError
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
