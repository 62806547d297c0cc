// Package adaptertest is the suite that every adapter must pass: the path of a
// request over real HTTP, through the framework's own server and router.
package adaptertest

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/headers"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

// Driver is one framework, in terms that all have in common.
type Driver struct {
	// Serve starts the app on loopback, until the test ends, and gives its URL. A
	// handler's panic is answered with 500.
	Serve func(t *testing.T, app App) (url string)
	// Key is the adapter's function of that name.
	Key func(func(Call) (string, error)) core.Key
	// User is the adapter's function of that name.
	User func(func(Call) (string, bool)) core.Key
	// WithoutWriter is set where handlers have no http.ResponseWriter.
	WithoutWriter bool
}

// App is a server to build.
type App struct {
	// Options are given to With. Nil: each middleware is made by New.
	Options *Options
	// Global are the middlewares of the whole router, outermost first.
	Global []Policies
	// Routes are served, and nothing else.
	Routes []Route
}

// Policies are one middleware.
type Policies []core.Policy

// Route is one registered handler.
type Route struct {
	// Method and Path are registered. Path is written as in "/users/{id}".
	Method, Path string
	// Limits are the route's own middlewares, outermost first.
	Limits []Policies
	// Handler serves.
	Handler func(Call)
}

// Call is a request in a handler or a hook.
type Call interface {
	// Context is the request's own.
	Context() context.Context
	// Header is a header field of the request.
	Header(name string) string
	// Query is a query parameter.
	Query(name string) string
	// Form is a form field, read by the framework's own means.
	Form(name string) string
	// Answer writes a status and a body.
	Answer(status int, body string)
	// Results is the adapter's function of that name.
	Results() []*core.Result
	// Writer is nil in a framework that has none.
	Writer() http.ResponseWriter
}

// Options are pipeline.Options in neutral terms.
type Options struct {
	Store         core.Store
	Timeout       time.Duration
	Now           func() time.Time
	Dialects      []headers.Dialect
	ClientIP      *keyfuncs.Client
	Allow, Deny   []string
	SkipPreflight bool
	Logger        *slog.Logger
	OnRefused     func(Call, core.Result)
	OnError       func(Call, error)
	Skip          func(Call) bool
	Failure       func(c Call, status int) bool
	ActualCost    func(Call) (int64, bool)
}

// Fill makes a framework's options of neutral ones, all but OnRefused and OnError.
func Fill[C, R, E any](o Options, call func(C) Call) pipeline.Options[C, R, E] {
	filled := pipeline.Options[C, R, E]{
		Store: o.Store, Timeout: o.Timeout, Now: o.Now, Dialects: o.Dialects, ClientIP: o.ClientIP,
		Allow: o.Allow, Deny: o.Deny, SkipPreflight: o.SkipPreflight, Logger: o.Logger,
	}
	if filled.Logger == nil {
		filled.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Skip != nil {
		filled.Skip = func(c C) bool { return o.Skip(call(c)) }
	}
	if o.Failure != nil {
		filled.Failure = func(c C, status int) bool { return o.Failure(call(c), status) }
	}
	if o.ActualCost != nil {
		filled.ActualCost = func(c C) (int64, bool) { return o.ActualCost(call(c)) }
	}
	return filled
}

// Run runs the suite.
func Run(t *testing.T, d Driver) {
	for _, group := range [][]testCase{decisions, hooks, keys, outcomes, waits, stores, routes, writers} {
		for _, c := range group {
			if c.writer && d.WithoutWriter {
				continue
			}
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				c.run(t, d)
			})
		}
	}
}

type testCase struct {
	name   string
	run    func(*testing.T, Driver)
	writer bool // needs an http.ResponseWriter
}
