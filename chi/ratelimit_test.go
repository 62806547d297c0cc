package ratelimit_test

import (
	"context"
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
	limit := ratelimit.New
	if app.Options != nil {
		limit = ratelimit.With(options(*app.Options)).New
	}
	router := chi.NewRouter()
	router.Use(recovered)
	for _, policies := range app.Global {
		router.Use(limit(policies...))
	}
	for _, route := range app.Routes {
		inner := router.With()
		for _, policies := range route.Limits {
			inner = inner.With(limit(policies...))
		}
		inner.Method(route.Method, route.Path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { route.Handler(call{w, r}) }))
	}
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	return server.URL
}

// recovered answers a panic with 500, as chi's own Recoverer does for all but
// http.ErrAbortHandler.
func recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if recover() != nil {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

func options(o adaptertest.Options) ratelimit.Options {
	filled := adaptertest.Fill[*http.Request, func(http.ResponseWriter, *http.Request, core.Result), func(http.ResponseWriter, *http.Request, error)](o, ask)
	if o.OnRefused != nil {
		filled.OnRefused = func(w http.ResponseWriter, r *http.Request, result core.Result) { o.OnRefused(call{w, r}, result) }
	}
	if o.OnError != nil {
		filled.OnError = func(w http.ResponseWriter, r *http.Request, err error) { o.OnError(call{w, r}, err) }
	}
	return filled
}

// ask is a call in a hook that only asks.
func ask(r *http.Request) adaptertest.Call { return call{nil, r} }

type call struct {
	w http.ResponseWriter
	r *http.Request
}

func (c call) Context() context.Context    { return c.r.Context() }
func (c call) Header(name string) string   { return c.r.Header.Get(name) }
func (c call) Query(name string) string    { return c.r.URL.Query().Get(name) }
func (c call) Form(name string) string     { return c.r.PostFormValue(name) }
func (c call) Results() []*core.Result     { return ratelimit.Results(c.r) }
func (c call) Writer() http.ResponseWriter { return c.w }

func (c call) Answer(status int, body string) {
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
