package ratelimit_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
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
	limit := ratelimit.New
	if app.Options != nil {
		limit = ratelimit.With(options(*app.Options)).New
	}
	router := gin.New()
	router.HandleMethodNotAllowed = true
	router.Use(gin.CustomRecoveryWithWriter(io.Discard, func(c *gin.Context, _ any) { c.AbortWithStatus(500) }))
	for _, policies := range app.Global {
		router.Use(limit(policies...))
	}
	for _, route := range app.Routes {
		var handlers []gin.HandlerFunc
		for _, policies := range route.Limits {
			handlers = append(handlers, limit(policies...))
		}
		handlers = append(handlers, func(c *gin.Context) { route.Handler(view(c)) })
		router.Handle(route.Method, pattern(route.Path), handlers...)
	}
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	return server.URL
}

// pattern is "/users/:id" for "/users/{id}".
func pattern(path string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(path)
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
func (c call) Header(name string) string      { return c.c.GetHeader(name) }
func (c call) Query(name string) string       { return c.c.Query(name) }
func (c call) Form(name string) string        { return c.c.PostForm(name) }
func (c call) Results() []*core.Result        { return ratelimit.Results(c.c) }
func (c call) Writer() http.ResponseWriter    { return c.c.Writer }
func (c call) Answer(status int, body string) { c.c.String(status, "%s", body) }
