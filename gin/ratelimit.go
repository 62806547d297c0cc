// Package ratelimit limits the rate of requests in Gin.
//
//	router.Use(ratelimit.New(core.PerMinute(100))) // for each client IP, in memory
//
// [New] stands for itself. [With] shares a store and answers between middlewares,
// each with the policies of its routes: see [Options].
//
// The client's address is the peer's; gin's ClientIP, which believes every peer's
// headers unless told otherwise, is not used. Behind proxies see keyfuncs.TrustProxies.
package ratelimit

import (
	"context"
	"net/http"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/headers"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

type (
	// OnRefused answers what the policies refuse: see [Options].
	OnRefused = func(*gin.Context, core.Result)
	// OnError answers what could not be decided: see [Options].
	OnError = func(*gin.Context, error)
)

// Options are what middlewares share. The zero Options is the default.
type Options = pipeline.Options[*gin.Context, OnRefused, OnError]

// Limits makes middlewares that share [Options].
type Limits struct {
	limits *pipeline.Limits[*gin.Context, OnRefused, OnError]
	routes routes
}

// New makes a middleware with a store of its own, in memory. All policies must
// admit a request; it is charged to all of them or to none. New panics without a
// policy, and on one that is not legal.
//
// Build it once, at start-up: one that is built for each request counts nothing, since
// its store is new as well.
func New(policies ...core.Policy) gin.HandlerFunc { return With(Options{}).New(policies...) }

// With makes Limits. It panics on Options that are not legal.
func With(o Options) *Limits { return &Limits{limits: pipeline.With(o)} }

// New makes a middleware, like the function [New], on the shared store. It also
// panics on policies whose names do not fit the store: see [Options].
func (l *Limits) New(policies ...core.Policy) gin.HandlerFunc {
	path := l.limits.Path(policies...)
	return func(c *gin.Context) {
		x := exchanges.Get().(*exchange)
		x.c, x.shared, x.Request = c, l, c.Request
		path.Serve(x)
		*x = exchange{}
		exchanges.Put(x)
	}
}

// exchanges are those that no request uses.
var exchanges = sync.Pool{New: func() any { return new(exchange) }}

// Key counts by what a function finds in the context, "" or [core.ErrNoKey] for
// nothing. Used in another framework the key gives an error.
func Key(key func(*gin.Context) (string, error)) core.Key { return pipeline.KeyOf(key) }

// User counts by the user that a function knows, false for none.
func User(user func(*gin.Context) (string, bool)) core.Key { return pipeline.UserOf(user) }

// Results gives what has been decided of the request, the outermost middleware
// first: for handlers that answer less where a policy degrades.
func Results(c *gin.Context) []*core.Result { return pipeline.ResultsFrom(c.Request.Context()) }

// exchange is Gin's view of one request.
type exchange struct {
	pipeline.HTTP
	c      *gin.Context
	shared *Limits
}

func (x *exchange) Native() any            { return x.c }
func (x *exchange) Route() (string, error) { return x.shared.routes.of(x.c) }

func (x *exchange) SetContext(ctx context.Context) {
	x.HTTP.SetContext(ctx)
	x.c.Request = x.Request
}

func (x *exchange) SetFields(f []headers.Field)    { x.SetHTTPFields(x.c.Writer.Header(), f) }
func (x *exchange) Answer(status int, body string) { pipeline.AnswerHTTP(x.c.Writer, status, body) }

func (x *exchange) OnRefused(r core.Result) (written bool) {
	x.c.Abort()
	if hook := x.shared.limits.Options.OnRefused; hook != nil {
		hook(x.c, r)
	}
	return x.c.Writer.Written()
}

func (x *exchange) OnError(err error) (written bool) {
	x.c.Abort()
	if hook := x.shared.limits.Options.OnError; hook != nil {
		hook(x.c, err)
	}
	return x.c.Writer.Written()
}

func (x *exchange) Next(watch bool) (status int) {
	if !watch {
		x.c.Next()
		return http.StatusOK
	}
	watched := &hijackWatch{ResponseWriter: x.c.Writer}
	x.c.Writer = watched
	x.c.Next()
	return watched.outcome()
}
