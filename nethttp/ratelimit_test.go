package ratelimit_test

import (
	"context"
	"net"
	"net/http"
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/internal/adaptertest"
	ratelimit "github.com/ratelimit-go/ratelimit/nethttp"
)

func TestAdapter(t *testing.T) {
	adaptertest.Run(t, adaptertest.Driver{
		Serve: serve,
		Key: func(key func(adaptertest.Call) (string, error)) core.Key {
			return ratelimit.Key(func(r *http.Request) (string, error) { return key(ask(r)) })
		},
		User: func(user func(adaptertest.Call) (string, bool)) core.Key {
			return ratelimit.User(func(r *http.Request) (string, bool) { return user(ask(r)) })
		},
	})
}

func serve(t *testing.T, app adaptertest.App) string {
	b := builder{app, limiter(app)}
	mux := http.NewServeMux()
	b.add(mux, "", app.Routes, app.Groups)
	return adaptertest.Listen(t, app, adaptertest.Recovered(b.outer(b.around(mux, app.Global))))
}

// builder makes muxes of an app.
type builder struct {
	app   adaptertest.App
	limit func(...core.Policy) func(http.Handler) http.Handler
}

// limiter makes middlewares that share the app's options.
func limiter(app adaptertest.App) func(...core.Policy) func(http.Handler) http.Handler {
	if app.Options == nil {
		return ratelimit.New
	}
	return ratelimit.With(options(*app.Options)).New
}

func (b builder) around(h http.Handler, limits []adaptertest.Policies) http.Handler {
	for i := len(limits) - 1; i >= 0; i-- {
		h = b.limit(limits[i]...)(h)
	}
	return h
}

// anew is around with middlewares that are made for each request.
func (b builder) anew(h http.Handler, limits []adaptertest.Policies) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		builder{b.app, limiter(b.app)}.around(h, limits).ServeHTTP(w, r)
	})
}

func (b builder) outer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &call{w, r}
		if b.app.Outer != nil {
			b.app.Outer(c)
		}
		next.ServeHTTP(w, c.r)
	})
}

// add registers routes, and groups as muxes in the mux.
func (b builder) add(mux *http.ServeMux, prefix string, routes []adaptertest.Route, groups []adaptertest.Group) {
	for _, route := range routes {
		around := b.around
		if b.app.PerRequest {
			around = b.anew
		}
		path := prefix + route.Path
		if path == "/" {
			path = "/{$}"
		}
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { route.Handler(&call{w, r}) })
		if route.Method != adaptertest.AnyMethod {
			path = route.Method + " " + path
		}
		mux.Handle(path, around(handler, route.Limits))
	}
	for _, group := range groups {
		inner := http.NewServeMux()
		b.add(inner, prefix+group.Path, group.Routes, group.Groups)
		mux.Handle(prefix+group.Path+"/", b.around(inner, group.Limits))
	}
}

func options(o adaptertest.Options) ratelimit.Options {
	filled := adaptertest.Fill[*http.Request, func(http.ResponseWriter, *http.Request, core.Result), func(http.ResponseWriter, *http.Request, error)](o, ask)
	if o.OnRefused != nil {
		filled.OnRefused = func(w http.ResponseWriter, r *http.Request, result core.Result) { o.OnRefused(&call{w, r}, result) }
	}
	if o.OnError != nil {
		filled.OnError = func(w http.ResponseWriter, r *http.Request, err error) { o.OnError(&call{w, r}, err) }
	}
	return filled
}

// ask is a call in a hook that only asks.
func ask(r *http.Request) adaptertest.Call { return &call{nil, r} }

type call struct {
	w http.ResponseWriter
	r *http.Request
}

func (c *call) Context() context.Context       { return c.r.Context() }
func (c *call) SetContext(ctx context.Context) { c.r = c.r.WithContext(ctx) }
func (c *call) Header(name string) string      { return c.r.Header.Get(name) }
func (c *call) Query(name string) string       { return c.r.URL.Query().Get(name) }
func (c *call) Form(name string) string        { return c.r.PostFormValue(name) }
func (c *call) SetField(name, value string)    { c.w.Header().Set(name, value) }
func (c *call) Fail(status int)                { http.Error(c.w, "failed", status) }
func (c *call) Stream(events <-chan string)    { adaptertest.Stream(c.w, events) }
func (c *call) Upgrade(serve func(net.Conn))   { adaptertest.Upgrade(c.w, serve) }
func (c *call) Results() []*core.Result        { return ratelimit.Results(c.r) }
func (c *call) Writer() http.ResponseWriter    { return c.w }

func (c *call) Answer(status int, body string) {
	c.w.WriteHeader(status)
	_, _ = c.w.Write([]byte(body))
}
