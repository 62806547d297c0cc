package ratelimit_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/recover"

	"github.com/ratelimit-go/ratelimit/core"
	ratelimit "github.com/ratelimit-go/ratelimit/fiber"
	"github.com/ratelimit-go/ratelimit/internal/adaptertest"
)

func TestAdapter(t *testing.T) {
	adaptertest.Run(t, adaptertest.Driver{
		Serve: serve,
		Key: func(key func(adaptertest.Call) (string, error)) core.Key {
			return ratelimit.Key(func(c *fiber.Ctx) (string, error) { return key(view(c)) })
		},
		User: func(user func(adaptertest.Call) (string, bool)) core.Key {
			return ratelimit.User(func(c *fiber.Ctx) (string, bool) { return user(view(c)) })
		},
		WithoutWriter: true,
		ErrorHandler:  true,
	})
}

func serve(t *testing.T, app adaptertest.App) string {
	b := builder{app, limiter(app)}
	router := fiber.New(b.config())
	router.Use(recover.New())
	if app.Outer != nil {
		router.Use(func(c *fiber.Ctx) error {
			app.Outer(view(c))
			return c.Next()
		})
	}
	for _, limit := range b.limits(app.Global) {
		router.Use(limit)
	}
	b.add(router, app.Routes, app.Groups)
	return "http://" + listen(t, router)
}

// builder makes routes of an app.
type builder struct {
	app   adaptertest.App
	limit func(...core.Policy) fiber.Handler
}

// config has BREW, which lets a method without routes come as far as the middleware:
// what is not in this list Fiber answers by itself, with 400.
func (b builder) config() fiber.Config {
	return fiber.Config{
		DisableStartupMessage: true, RequestMethods: slices.Concat(fiber.DefaultMethods, []string{"BREW"}),
		ProxyHeader:       fiber.HeaderXForwardedFor, // has no say
		StreamRequestBody: b.app.Streams, DisablePreParseMultipartForm: b.app.Streams,
		ErrorHandler: func(c *fiber.Ctx, err error) error {
			if b.app.Errors != nil {
				b.app.Errors.Add(1)
			}
			return fiber.DefaultErrorHandler(c, err)
		},
	}
}

// limiter makes middlewares that share the app's options.
func limiter(app adaptertest.App) func(...core.Policy) fiber.Handler {
	if app.Options == nil {
		return ratelimit.New
	}
	return ratelimit.With(options(*app.Options)).New
}

func (b builder) limits(all []adaptertest.Policies) (limits []fiber.Handler) {
	for _, policies := range all {
		limits = append(limits, b.limit(policies...))
	}
	return limits
}

// anew is a middleware that is made for each request.
func (b builder) anew(policies adaptertest.Policies) fiber.Handler {
	return func(c *fiber.Ctx) error { return limiter(b.app)(policies...)(c) }
}

// add registers routes, and groups as Fiber's groups or as mounted apps.
func (b builder) add(router fiber.Router, routes []adaptertest.Route, groups []adaptertest.Group) {
	for _, route := range routes {
		handlers := b.limits(route.Limits)
		if b.app.PerRequest {
			for i := range handlers {
				handlers[i] = b.anew(route.Limits[i])
			}
		}
		handlers = append(handlers, func(c *fiber.Ctx) error {
			call := &call{c: c}
			route.Handler(call)
			return call.err
		})
		if route.Method == adaptertest.AnyMethod {
			router.All(adaptertest.Pattern(route.Path), handlers...)
			continue
		}
		router.Add(route.Method, adaptertest.Pattern(route.Path), handlers...)
	}
	for _, group := range groups {
		if !group.Mounted {
			b.add(router.Group(adaptertest.Pattern(group.Path), b.limits(group.Limits)...), group.Routes, group.Groups)
			continue
		}
		inner := fiber.New(b.config())
		for _, limit := range b.limits(group.Limits) {
			inner.Use(limit)
		}
		b.add(inner, group.Routes, group.Groups)
		router.Mount(adaptertest.Pattern(group.Path), inner)
	}
}

// listen serves an app on loopback until the test ends.
func listen(t testing.TB, app *fiber.App) (address string) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = app.Listener(listener) }()
	t.Cleanup(func() { _ = app.ShutdownWithTimeout(time.Second) })
	return listener.Addr().String()
}

func options(o adaptertest.Options) ratelimit.Options {
	filled := adaptertest.Fill[*fiber.Ctx, func(*fiber.Ctx, core.Result) error, func(*fiber.Ctx, error) error](o, view)
	if o.OnRefused != nil {
		filled.OnRefused = func(c *fiber.Ctx, r core.Result) error {
			call := &call{c: c}
			o.OnRefused(call, r)
			return call.err
		}
	}
	if o.OnError != nil {
		filled.OnError = func(c *fiber.Ctx, err error) error {
			call := &call{c: c}
			o.OnError(call, err)
			return call.err
		}
	}
	return filled
}

func view(c *fiber.Ctx) adaptertest.Call { return &call{c: c} }

type call struct {
	c   *fiber.Ctx
	err error // what the handler or the hook returns
}

func (c *call) Context() context.Context       { return c.c.UserContext() }
func (c *call) SetContext(ctx context.Context) { c.c.SetUserContext(ctx) }
func (c *call) Header(name string) string      { return c.c.Get(name) }
func (c *call) Query(name string) string       { return c.c.Query(name) }
func (c *call) Form(name string) string        { return c.c.FormValue(name) }
func (c *call) SetField(name, value string)    { c.c.Set(name, value) }
func (c *call) Answer(status int, body string) { _ = c.c.Status(status).SendString(body) }
func (c *call) Fail(status int)                { c.err = fiber.NewError(status) }
func (c *call) Results() []*core.Result        { return ratelimit.Results(c.c) }
func (c *call) Writer() http.ResponseWriter    { return nil }

func (c *call) Stream(events <-chan string) {
	c.c.Context().SetContentType("text/event-stream")
	c.c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		for event := range events {
			_, _ = w.WriteString(event)
			_ = w.Flush()
		}
	})
}

func (c *call) Upgrade(serve func(net.Conn)) {
	c.c.Context().HijackSetNoResponse(true)
	c.c.Context().Hijack(func(conn net.Conn) {
		_, _ = io.WriteString(conn, adaptertest.SwitchingProtocols)
		serve(conn)
	})
}
