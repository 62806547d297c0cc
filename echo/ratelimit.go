// Package ratelimit limits the rate of requests in Echo.
//
//	e.Use(ratelimit.New(core.PerMinute(100))) // for each client IP, in memory
//
// [New] stands for itself. [With] shares a store and answers between middlewares,
// each with the policies of its routes: see [Options]. Hooks return an error as
// handlers do; Echo's error handler answers it, once.
//
// The client's address is the peer's; Echo's RealIP, which can believe every
// peer's headers, is not used. Behind proxies see keyfuncs.TrustProxies.
//
// Middlewares of Use, of groups and of routes know the route: see keyfuncs.Route.
// Those of Pre run before it is known. Middleware that rewrites paths or methods
// belongs there, outside the limiter.
package ratelimit

import (
	"context"
	"net/http"
	"sync"

	"github.com/labstack/echo/v4"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/headers"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

type (
	// OnRefused answers what the policies refuse: see [Options].
	OnRefused = func(echo.Context, core.Result) error
	// OnError answers what could not be decided: see [Options].
	OnError = func(echo.Context, error) error
)

// Options are what middlewares share. The zero Options is the default.
type Options = pipeline.Options[echo.Context, OnRefused, OnError]

// Limits makes middlewares that share [Options].
type Limits struct {
	limits *pipeline.Limits[echo.Context, OnRefused, OnError]
	routes routes
}

// New makes a middleware with a store of its own, in memory. All policies must
// admit a request; it is charged to all of them or to none. New panics without a
// policy, and on one that is not legal.
//
// Build it once, at start-up: one that is built for each request counts nothing, since
// its store is new as well.
func New(policies ...core.Policy) echo.MiddlewareFunc { return With(Options{}).New(policies...) }

// With makes Limits. It panics on Options that are not legal.
func With(o Options) *Limits { return &Limits{limits: pipeline.With(o)} }

// New makes a middleware, like the function [New], on the shared store. It also
// panics on policies whose names do not fit the store: see [Options].
func (l *Limits) New(policies ...core.Policy) echo.MiddlewareFunc {
	path := l.limits.Path(policies...)
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			x := exchanges.Get().(*exchange)
			x.c, x.shared, x.next, x.Request = c, l, next, c.Request()
			path.Serve(x)
			err := x.err
			*x = exchange{}
			exchanges.Put(x)
			return err
		}
	}
}

// exchanges are those that no request uses.
var exchanges = sync.Pool{New: func() any { return new(exchange) }}

// Key counts by what a function finds in the context, "" or [core.ErrNoKey] for
// nothing. Used in another framework the key gives an error.
func Key(key func(echo.Context) (string, error)) core.Key { return pipeline.KeyOf(key) }

// User counts by the user that a function knows, false for none.
func User(user func(echo.Context) (string, bool)) core.Key { return pipeline.UserOf(user) }

// Results gives what has been decided of the request, the outermost middleware
// first: for handlers that answer less where a policy degrades.
func Results(c echo.Context) []*core.Result { return pipeline.ResultsFrom(c.Request().Context()) }

// exchange is Echo's view of one request.
type exchange struct {
	pipeline.HTTP
	c      echo.Context
	shared *Limits
	next   echo.HandlerFunc
	err    error // of the handler or a hook, for Echo's error handler
}

func (x *exchange) Native() any            { return x.c }
func (x *exchange) Route() (string, error) { return x.shared.routes.of(x.c) }

func (x *exchange) SetContext(ctx context.Context) {
	x.HTTP.SetContext(ctx)
	x.c.SetRequest(x.Request)
}

func (x *exchange) SetFields(fields []headers.Field) {
	x.SetHTTPFields(x.c.Response().Header(), fields)
}

func (x *exchange) Answer(status int, body string) {
	pipeline.AnswerHTTP(x.c.Response(), status, body)
}

func (x *exchange) OnRefused(r core.Result) (written bool) {
	if hook := x.shared.limits.Options.OnRefused; hook != nil {
		x.err = hook(x.c, r)
	}
	return x.err != nil || x.c.Response().Committed
}

func (x *exchange) OnError(err error) (written bool) {
	if hook := x.shared.limits.Options.OnError; hook != nil {
		x.err = hook(x.c, err)
	}
	return x.err != nil || x.c.Response().Committed
}

func (x *exchange) Next(watch bool) (status int) {
	if !watch {
		x.err = x.next(x.c)
		return http.StatusOK
	}
	recorder, w := pipeline.NewRecorder(x.c.Response().Writer)
	x.c.Response().Writer = w
	x.err = x.next(x.c)
	if x.err != nil && !recorder.Written() {
		return becomes(x.err)
	}
	return recorder.Status()
}

// becomes is the status that Echo's own error handler makes of an error.
func becomes(err error) int {
	he, ok := err.(*echo.HTTPError) //nolint:errorlint // the handler does not unwrap either
	if !ok {
		return http.StatusInternalServerError
	}
	if inner, ok := he.Internal.(*echo.HTTPError); ok { //nolint:errorlint // as above
		return inner.Code
	}
	return he.Code
}
