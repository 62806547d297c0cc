package ratelimit_test

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
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
	})
}

func serve(t *testing.T, app adaptertest.App) string {
	limit := ratelimit.New
	if app.Options != nil {
		limit = ratelimit.With(options(*app.Options)).New
	}
	// BREW lets a method without routes come as far as the middleware: what is not
	// in this list Fiber answers by itself, with 400.
	router := fiber.New(fiber.Config{
		DisableStartupMessage: true, RequestMethods: slices.Concat(fiber.DefaultMethods, []string{"BREW"}),
	})
	router.Use(recover.New())
	for _, policies := range app.Global {
		router.Use(limit(policies...))
	}
	for _, route := range app.Routes {
		var handlers []fiber.Handler
		for _, policies := range route.Limits {
			handlers = append(handlers, limit(policies...))
		}
		handlers = append(handlers, func(c *fiber.Ctx) error {
			route.Handler(view(c))
			return nil
		})
		router.Add(route.Method, pattern(route.Path), handlers...)
	}
	return "http://" + listen(t, router)
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

// pattern is "/users/:id" for "/users/{id}".
func pattern(path string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(path)
}

func options(o adaptertest.Options) ratelimit.Options {
	filled := adaptertest.Fill[*fiber.Ctx, func(*fiber.Ctx, core.Result) error, func(*fiber.Ctx, error) error](o, view)
	if o.OnRefused != nil {
		filled.OnRefused = func(c *fiber.Ctx, r core.Result) error {
			o.OnRefused(view(c), r)
			return nil
		}
	}
	if o.OnError != nil {
		filled.OnError = func(c *fiber.Ctx, err error) error {
			o.OnError(view(c), err)
			return nil
		}
	}
	return filled
}

func view(c *fiber.Ctx) adaptertest.Call { return call{c} }

type call struct{ c *fiber.Ctx }

func (c call) Context() context.Context       { return c.c.UserContext() }
func (c call) Header(name string) string      { return c.c.Get(name) }
func (c call) Query(name string) string       { return c.c.Query(name) }
func (c call) Form(name string) string        { return c.c.FormValue(name) }
func (c call) Results() []*core.Result        { return ratelimit.Results(c.c) }
func (c call) Writer() http.ResponseWriter    { return nil }
func (c call) Answer(status int, body string) { _ = c.c.Status(status).SendString(body) }
