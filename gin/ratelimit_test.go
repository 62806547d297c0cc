package ratelimit_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/ratelimit-go/ratelimit/core"
	ratelimit "github.com/ratelimit-go/ratelimit/gin"
	"github.com/ratelimit-go/ratelimit/internal/adaptertest"
)

func TestAdapter(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	adaptertest.Run(t, adaptertest.Driver{
		Serve: serve,
		Key: func(key func(adaptertest.Call) (string, error)) core.Key {
			return ratelimit.Key(func(c *gin.Context) (string, error) { return key(view(c)) })
		},
		User: func(user func(adaptertest.Call) (string, bool)) core.Key {
			return ratelimit.User(func(c *gin.Context) (string, bool) { return user(view(c)) })
		},
	})
}

func serve(t *testing.T, app adaptertest.App) string {
	router := gin.New()
	router.HandleMethodNotAllowed = true
	router.Use(gin.CustomRecoveryWithWriter(io.Discard, func(c *gin.Context, _ any) { c.AbortWithStatus(500) }))
	if app.Outer != nil {
		router.Use(func(c *gin.Context) { app.Outer(view(c)) })
	}
	b := builder{app, limiter(app)}
	router.Use(b.limits(app.Global)...)
	b.add(router, app.Routes, app.Groups)
	return adaptertest.Listen(t, app, router)
}

// builder makes routes of an app.
type builder struct {
	app   adaptertest.App
	limit func(...core.Policy) gin.HandlerFunc
}

// limiter makes middlewares that share the app's options.
func limiter(app adaptertest.App) func(...core.Policy) gin.HandlerFunc {
	if app.Options == nil {
		return ratelimit.New
	}
	return ratelimit.With(options(*app.Options)).New
}

func (b builder) limits(all []adaptertest.Policies) (limits []gin.HandlerFunc) {
	for _, policies := range all {
		limits = append(limits, b.limit(policies...))
	}
	return limits
}

// anew is a middleware that is made for each request.
func (b builder) anew(policies adaptertest.Policies) gin.HandlerFunc {
	return func(c *gin.Context) { limiter(b.app)(policies...)(c) }
}

func (b builder) add(router gin.IRouter, routes []adaptertest.Route, groups []adaptertest.Group) {
	for _, route := range routes {
		handlers := b.limits(route.Limits)
		if b.app.PerRequest {
			for i := range handlers {
				handlers[i] = b.anew(route.Limits[i])
			}
		}
		handlers = append(handlers, func(c *gin.Context) { route.Handler(view(c)) })
		if route.Method == adaptertest.AnyMethod {
			router.Any(adaptertest.Pattern(route.Path), handlers...)
			continue
		}
		router.Handle(route.Method, adaptertest.Pattern(route.Path), handlers...)
	}
	for _, group := range groups {
		b.add(router.Group(adaptertest.Pattern(group.Path), b.limits(group.Limits)...), group.Routes, group.Groups)
	}
}

func options(o adaptertest.Options) ratelimit.Options {
	filled := adaptertest.Fill[*gin.Context, func(*gin.Context, core.Result), func(*gin.Context, error)](o, view)
	if o.OnRefused != nil {
		filled.OnRefused = func(c *gin.Context, r core.Result) { o.OnRefused(view(c), r) }
	}
	if o.OnError != nil {
		filled.OnError = func(c *gin.Context, err error) { o.OnError(view(c), err) }
	}
	return filled
}

func view(c *gin.Context) adaptertest.Call { return call{c} }

type call struct{ c *gin.Context }

func (c call) Context() context.Context       { return c.c.Request.Context() }
func (c call) SetContext(ctx context.Context) { c.c.Request = c.c.Request.WithContext(ctx) }
func (c call) Header(name string) string      { return c.c.GetHeader(name) }
func (c call) Query(name string) string       { return c.c.Query(name) }
func (c call) Form(name string) string        { return c.c.PostForm(name) }
func (c call) SetField(name, value string)    { c.c.Header(name, value) }
func (c call) Fail(status int)                { c.c.AbortWithStatus(status) }
func (c call) Stream(events <-chan string)    { adaptertest.Stream(c.c.Writer, events) }
func (c call) Upgrade(serve func(net.Conn))   { adaptertest.Upgrade(c.c.Writer, serve) }
func (c call) Results() []*core.Result        { return ratelimit.Results(c.c) }
func (c call) Writer() http.ResponseWriter    { return c.c.Writer }
func (c call) Answer(status int, body string) { c.c.String(status, "%s", body) }
