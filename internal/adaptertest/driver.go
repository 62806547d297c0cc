// Package adaptertest is the suite that every adapter must pass: the path of a
// request over real HTTP, through the framework's own server and router, counted in
// memory and in Redis.
package adaptertest

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
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
	// WithoutWriter is set where handlers have no http.ResponseWriter. Such a
	// framework speaks no HTTP/2 and does not tell of clients that leave.
	WithoutWriter bool
	// ErrorHandler is set where the framework answers errors that handlers return.
	ErrorHandler bool

	// store makes an empty store, and handles on it as of several programs.
	store func() (open func() core.Store)
}

// App is a server to build.
type App struct {
	// Options are given to With. Nil: each middleware is made by New.
	Options *Options
	// Outer runs in front of all middlewares. Nil: nothing does.
	Outer func(Call)
	// Global are the middlewares of the whole router, outermost first.
	Global []Policies
	// Routes and Groups are served, and nothing else.
	Routes []Route
	Groups []Group
	// Errors counts how often the framework's own error handler runs. Nil: nothing
	// counts.
	Errors *atomic.Int64
	// HTTP2 asks for TLS and HTTP/2.
	HTTP2 bool
	// Streams asks for handlers to run before the body is read, where that must be
	// asked for.
	Streams bool
	// PerRequest makes the middlewares of routes anew for each request.
	PerRequest bool
}

// Group is routes below a path.
type Group struct {
	// Path is as in "/api".
	Path string
	// Limits are the group's own middlewares, outermost first.
	Limits []Policies
	// Routes and Groups are below Path.
	Routes []Route
	Groups []Group
	// Mounted asks for a router of its own, where the framework mounts routers.
	Mounted bool
}

// Policies are one middleware.
type Policies []core.Policy

// AnyMethod is the Method of a route for any.
const AnyMethod = "*"

// Route is one registered handler.
type Route struct {
	// Method and Path are registered. Path is written as in "/users/{id}".
	Method, Path string
	// Limits are the route's own middlewares, outermost first.
	Limits []Policies
	// Handler serves.
	Handler func(Call)
}

// Call is a request in a handler, a hook or an outer middleware.
type Call interface {
	// Context is the request's own.
	Context() context.Context
	// SetContext replaces it. It is for outer middlewares.
	SetContext(context.Context)
	// Header is a header field of the request.
	Header(name string) string
	// Query is a query parameter.
	Query(name string) string
	// Form is a form field, read by the framework's own means.
	Form(name string) string
	// SetField sets a header field of the answer.
	SetField(name, value string)
	// Answer writes a status and a body.
	Answer(status int, body string)
	// Fail ends a handler or a hook with a status by the framework's own means for
	// errors: it returns an error, or aborts.
	Fail(status int)
	// Stream sends each event as it comes, until there are no more.
	Stream(events <-chan string)
	// Upgrade switches protocols and hands over the connection, which serve closes.
	Upgrade(serve func(net.Conn))
	// Results is the adapter's function of that name.
	Results() []*core.Result
	// Writer is nil in a framework that has none.
	Writer() http.ResponseWriter
}

// Options are pipeline.Options in neutral terms.
type Options struct {
	Store         core.Store
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
		Store: o.Store, Now: o.Now, Dialects: o.Dialects, ClientIP: o.ClientIP,
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
