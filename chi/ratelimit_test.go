package ratelimit_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-chi/chi/v5"

	ratelimit "github.com/ratelimit-go/ratelimit/chi"
	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/internal/adaptertest"
	nethttp "github.com/ratelimit-go/ratelimit/nethttp"
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
	router := chi.NewRouter()
	router.Use(adaptertest.Recovered)
	b := builder{app, limiter(app)}
	router.Use(b.outer)
	router.Use(b.limits(app.Global)...)
	b.add(router, "", app.Routes, app.Groups)
	return adaptertest.Listen(t, app, router)
}

type wrapper = func(http.Handler) http.Handler

// builder makes routes of an app.
type builder struct {
	app   adaptertest.App
	limit func(...core.Policy) wrapper
}

// limiter makes middlewares that share the app's options.
func limiter(app adaptertest.App) func(...core.Policy) wrapper {
	if app.Options == nil {
		return ratelimit.New
	}
	return ratelimit.With(options(*app.Options)).New
}

func (b builder) limits(all []adaptertest.Policies) (limits []wrapper) {
	for _, policies := range all {
		limits = append(limits, b.limit(policies...))
	}
	return limits
}

// anew is a middleware that is made for each request.
func (b builder) anew(policies adaptertest.Policies) wrapper {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { limiter(b.app)(policies...)(next).ServeHTTP(w, r) })
	}
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

// add registers routes, and groups as chi's groups or as mounted routers.
func (b builder) add(router chi.Router, prefix string, routes []adaptertest.Route, groups []adaptertest.Group) {
	for _, route := range routes {
		limits := b.limits(route.Limits)
		if b.app.PerRequest {
			for i := range limits {
				limits[i] = b.anew(route.Limits[i])
			}
		}
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { route.Handler(&call{w, r}) })
		if route.Method == adaptertest.AnyMethod {
			router.With(limits...).Handle(prefix+route.Path, handler)
			continue
		}
		router.With(limits...).Method(route.Method, prefix+route.Path, handler)
	}
	for _, group := range groups {
		if group.Mounted {
			inner := chi.NewRouter()
			inner.Use(b.limits(group.Limits)...)
			b.add(inner, "", group.Routes, group.Groups)
			router.Mount(prefix+group.Path, inner)
			continue
		}
		router.Group(func(inner chi.Router) {
			inner.Use(b.limits(group.Limits)...)
			b.add(inner, prefix+group.Path, group.Routes, group.Groups)
		})
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

// TestWithNetHTTP: a key of net/http serves in chi, and one store keeps one budget
// for a policy in both.
func TestWithNetHTTP(t *testing.T) {
	store := core.NewMemory()
	policy := core.PerHour(2).Named("shared").By(nethttp.Key(func(r *http.Request) (string, error) { return r.Header.Get("X-User"), nil }))
	router := chi.NewRouter()
	router.Use(ratelimit.With(ratelimit.Options{Store: store}).New(policy))
	router.Get("/", hello)
	other := nethttp.With(nethttp.Options{Store: store}).New(policy)(http.HandlerFunc(hello))
	for i, h := range []http.Handler{router, other, router, other} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("X-User", "ann")
		answer := httptest.NewRecorder()
		if h.ServeHTTP(answer, r); (answer.Code == 200) != (i < 2) {
			t.Errorf("request %d: status %d", i+1, answer.Code)
		}
	}
}
