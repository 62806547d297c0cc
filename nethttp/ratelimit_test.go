package ratelimit_test

import (
	"context"
	"net/http"
	"net/http/httptest"
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

type middleware = func(http.Handler) http.Handler

func serve(t *testing.T, app adaptertest.App) string {
	limit := ratelimit.New
	if app.Options != nil {
		limit = ratelimit.With(options(*app.Options)).New
	}
	mux := http.NewServeMux()
	for _, route := range app.Routes {
		handler := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { route.Handler(call{w, r}) }))
		path := route.Path
		if path == "/" {
			path = "/{$}"
		}
		mux.Handle(route.Method+" "+path, around(handler, route.Limits, limit))
	}
	server := httptest.NewServer(recovered(around(mux, app.Global, limit)))
	t.Cleanup(server.Close)
	return server.URL
}

func around(h http.Handler, limits []adaptertest.Policies, limit func(...core.Policy) middleware) http.Handler {
	for i := len(limits) - 1; i >= 0; i-- {
		h = limit(limits[i]...)(h)
	}
	return h
}

// recovered answers a panic with 500, as other frameworks do.
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
