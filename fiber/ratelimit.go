// Package ratelimit limits the rate of requests in Fiber.
//
//	app.Use(ratelimit.New(core.PerMinute(100))) // for each client IP, in memory
//
// [New] stands for itself. [With] shares a store and answers between middlewares,
// each with the policies of its routes: see [Options].
//
// The client's address is the peer's; Fiber's IP, which may believe every peer's
// headers, is not used. Behind proxies see keyfuncs.TrustProxies.
//
// # What is Fiber's own
//
// Strings. Fiber reuses the memory behind c.Get, c.Params, c.Path and others once
// a request is over. Keys are copied, whoever made them, before the store sees them.
//
// Errors. What a hook returns goes to the app's ErrorHandler, once. Where policies
// count by outcome, a handler's error counts by its *fiber.Error's code, and as 500
// without one: an ErrorHandler that would choose another status is not asked.
//
// Clients that leave. Fiber does not report them: a held request keeps its turn, and
// the handler runs. The request's context is c.UserContext, and its deadline is heeded.
//
// Uploads. Without Config.StreamRequestBody Fiber reads a body before any middleware
// runs, and refusing saves only the handler. With it, and DisablePreParseMultipartForm
// for multipart forms, a refusal reads no more than 8 KiB, and closes the connection,
// where the rest would be taken for the next request. A streamed body is looked at for
// a form key only where it says its length, of at most 1 MiB. Expect: 100-continue is
// answered by the server before any middleware runs.
//
// Prefork. Each child has its own memory: a store in memory is one budget for each
// child. Give Options.Store one in Redis.
//
// Header names. With Config.DisableHeaderNormalizing keys find only headers that are
// sent in the letters they ask for.
package ratelimit

import (
	"context"
	"net/http"
	"net/url"
	"sync"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/headers"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

type (
	// OnRefused answers what the policies refuse: see [Options].
	OnRefused = func(*fiber.Ctx, core.Result) error
	// OnError answers what could not be decided: see [Options].
	OnError = func(*fiber.Ctx, error) error
)

// Options are what middlewares share. The zero Options is the default.
type Options = pipeline.Options[*fiber.Ctx, OnRefused, OnError]

// Limits makes middlewares that share [Options].
type Limits struct {
	limits *pipeline.Limits[*fiber.Ctx, OnRefused, OnError]
	routes routes
}

// New makes a middleware with a store of its own, in memory. All policies must
// admit a request; it is charged to all of them or to none. New panics without a
// policy, and on one that is not legal.
//
// Build it once, at start-up: one that is built for each request counts nothing, since
// its store is new as well.
func New(policies ...core.Policy) fiber.Handler { return With(Options{}).New(policies...) }

// With makes Limits. It panics on Options that are not legal.
func With(o Options) *Limits { return &Limits{limits: pipeline.With(o)} }

// New makes a middleware, like the function [New], on the shared store. It also
// panics on policies whose names do not fit the store: see [Options].
func (l *Limits) New(policies ...core.Policy) fiber.Handler {
	path := l.limits.Path(copying(policies)...)
	return func(c *fiber.Ctx) error {
		x := exchanges.Get().(*exchange)
		x.limits, x.c = l, c
		path.Serve(x)
		err := x.err
		*x = exchange{}
		exchanges.Put(x)
		return err
	}
}

// exchanges are those that no request uses.
var exchanges = sync.Pool{New: func() any { return new(exchange) }}

// Key counts by what a function finds in the context, "" or [core.ErrNoKey] for
// nothing. Used in another framework the key gives an error.
func Key(key func(*fiber.Ctx) (string, error)) core.Key { return pipeline.KeyOf(key) }

// User counts by the user that a function knows, false for none.
func User(user func(*fiber.Ctx) (string, bool)) core.Key { return pipeline.UserOf(user) }

// Results gives what has been decided of the request, the outermost middleware
// first: for handlers that answer less where a policy degrades.
func Results(c *fiber.Ctx) []*core.Result { return pipeline.ResultsFrom(c.UserContext()) }

// exchange is one request and its answer; what keys ask of it is in request.go.
type exchange struct {
	pipeline.Visit
	limits *Limits
	c      *fiber.Ctx
	query  url.Values     // read at the first question
	form   *pipeline.HTTP // likewise
	err    error          // what the middleware returns
}

func (x *exchange) SetContext(ctx context.Context) { x.c.SetUserContext(ctx) }

func (x *exchange) SetFields(fields []headers.Field) {
	header := &x.c.Response().Header
	for i := range fields {
		f := &fields[i]
		if f.Value == "" {
			header.Del(f.Name)
			continue
		}
		header.SetCanonical(utils.UnsafeBytes(f.Name), utils.UnsafeBytes(f.Value)) // it copies both
	}
}

func (x *exchange) Answer(status int, body string) { x.err = x.c.Status(status).SendString(body) }

func (x *exchange) OnRefused(r core.Result) (written bool) {
	x.begin()
	if hook := x.limits.limits.Options.OnRefused; hook != nil {
		x.err = hook(x.c, r)
	}
	return x.written()
}

func (x *exchange) OnError(err error) (written bool) {
	x.begin()
	if hook := x.limits.limits.Options.OnError; hook != nil {
		x.err = hook(x.c, err)
	}
	return x.written()
}

// begin empties the answer, so that it can be seen whether a hook writes. What is
// unread of a streamed body would be taken for the connection's next request.
func (x *exchange) begin() {
	x.c.Status(http.StatusOK)
	x.c.Response().ResetBody()
	if x.c.Request().IsBodyStream() {
		x.c.Context().SetConnectionClose()
	}
}

func (x *exchange) written() bool {
	response := x.c.Response()
	return x.err != nil || response.StatusCode() != http.StatusOK ||
		response.IsBodyStream() || len(response.Body()) > 0 || x.c.Context().Hijacked()
}

func (x *exchange) Next(watch bool) (status int) {
	x.err = x.c.Next()
	if !watch {
		return http.StatusOK
	}
	return x.outcome()
}
