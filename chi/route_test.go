package ratelimit_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	ratelimit "github.com/ratelimit-go/ratelimit/chi"
	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

// spy notes the route by which a limiter counts.
type spy struct{ counted atomic.Value }

func (s *spy) limit() func(http.Handler) http.Handler {
	key := keyfuncs.Route()
	return ratelimit.New(core.PerSecond(1_000_000).By(func(r core.Request) (string, error) {
		route, err := key(r)
		s.counted.Store(route)
		return route, err
	}))
}

// where are the places at which a limiter can stand in the same app.
var where = []string{"root", "group", "mount", "route"}

// shop is an app of routers in routers, limited at one of the places.
func shop(s *spy, at string) http.Handler {
	limit := func(place string) []func(http.Handler) http.Handler {
		if at == place {
			return []func(http.Handler) http.Handler{s.limit()}
		}
		return nil
	}
	users := chi.NewRouter()
	users.Use(limit("mount")...)
	users.With(limit("route")...).Get("/", hello)
	users.With(limit("route")...).Get("/{id}", hello)
	users.With(limit("route")...).Post("/{id}", hello)
	users.With(limit("route")...).Handle("/{id}/any", http.HandlerFunc(hello))
	users.With(limit("route")...).Get("/{id}/both", hello)
	users.With(limit("route")...).Head("/{id}/both", hello)

	files := chi.NewRouter()
	files.Use(limit("mount")...)
	files.With(limit("route")...).Get("/*", hello)

	root := chi.NewRouter()
	root.Use(limit("root")...)
	root.Group(func(r chi.Router) {
		r.Use(limit("group")...)
		r.Route("/api", func(r chi.Router) {
			r.Route("/v{version:[0-9]+}", func(r chi.Router) { r.Mount("/users", users) })
			r.Mount("/files", files)
		})
	})
	return root
}

func TestRoutes(t *testing.T) {
	for _, at := range where {
		var s spy
		server := httptest.NewServer(shop(&s, at))
		t.Cleanup(server.Close)
		for _, c := range []struct {
			name, method, path string
			status             int
			want               string
		}{
			{"a pattern, three routers deep", "GET", "/api/v1/users/7", 200, "GET /api/v{version:[0-9]+}/users/{id}"},
			{"another id and version", "GET", "/api/v2/users/8?q=1", 200, "GET /api/v{version:[0-9]+}/users/{id}"},
			{"its other method", "POST", "/api/v1/users/7", 200, "POST /api/v{version:[0-9]+}/users/{id}"},
			{"percent-encoded", "GET", "/api/v1/users/%37", 200, "GET /api/v{version:[0-9]+}/users/{id}"},
			{"a slash in the id", "GET", "/api/v1/users/a%2Fb", 200, "GET /api/v{version:[0-9]+}/users/{id}"},
			{"any method", "DELETE", "/api/v1/users/7/any", 200, "/api/v{version:[0-9]+}/users/{id}/any"},
			{"HEAD where any method serves", "HEAD", "/api/v1/users/7/any", 200, "/api/v{version:[0-9]+}/users/{id}/any"},
			{"HEAD beside GET", "HEAD", "/api/v1/users/7/both", 200, "GET /api/v{version:[0-9]+}/users/{id}/both"},
			{"a mount itself", "GET", "/api/v1/users", 200, "GET /api/v{version:[0-9]+}/users"},
			{"with its slash", "GET", "/api/v1/users/", 200, "GET /api/v{version:[0-9]+}/users"},
			{"a wildcard", "GET", "/api/files/a/b", 200, "GET /api/files/*"},
			{"a mount of a wildcard", "GET", "/api/files", 200, "GET /api/files/*"},
			{"with its slash", "GET", "/api/files/", 200, "GET /api/files/*"},
			{"slashes doubled below a wildcard", "GET", "/api/files//a", 200, "GET /api/files/*"},

			{"405", "DELETE", "/api/v1/users/7", 405, "unmatched"},
			{"HEAD where GET does not serve it", "HEAD", "/api/v1/users/7", 405, "unmatched"},
			{"a method that does not exist", "BREW", "/api/v1/users/7", 405, "unmatched"},
			{"one where any method serves", "BREW", "/api/v1/users/7/any", 405, "unmatched"},
			{"a method in small letters", "get", "/api/v1/users/7", 405, "unmatched"},
			{"404", "GET", "/nowhere", 404, "unmatched"},
			{"404 under a mount", "GET", "/api/v1/nowhere/7", 404, "unmatched"},
			{"404 of a mount itself", "GET", "/api", 404, "unmatched"},
			{"404 of a mount with its slash", "GET", "/api/v1/", 404, "unmatched"},
			{"a slash too many", "GET", "/api/v1/users/7/", 404, "unmatched"},
			{"slashes doubled", "GET", "//api//v1/users/7", 404, "unmatched"},
			{"in capitals", "GET", "/API/v1/users/7", 404, "unmatched"},
			{"dots", "GET", "/api/./v1/users/7", 404, "unmatched"},
		} {
			status, counted := s.request(t, server.URL, c.method, c.path)
			if status != c.status {
				t.Errorf("%s: %s: status %d, want %d", at, c.name, status, c.status)
			}
			if counted != c.want && (counted != "" || c.want != "unmatched") {
				t.Errorf("%s: %s: counted %q, want %q", at, c.name, counted, c.want)
			}
		}
	}
}

// request sends a path as it is, and gives by what it was counted, "" where it did
// not come to the limiter.
func (s *spy) request(t *testing.T, server, method, path string) (status int, counted string) {
	t.Helper()
	s.counted.Store("")
	status = send(t, server, method, path)
	return status, s.counted.Load().(string)
}

func send(t *testing.T, server, method, path string) (status int) {
	t.Helper()
	r, err := http.NewRequest(method, server, nil)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.ParseRequestURI(path)
	if err != nil {
		t.Fatal(err)
	}
	r.URL.Path, r.URL.RawPath, r.URL.RawQuery = target.Path, target.RawPath, target.RawQuery
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

// TestRoutesBehindRewriters: what rewrites paths or methods outside the limiter
// opens no second budget, wherever the limiter stands.
func TestRoutesBehindRewriters(t *testing.T) {
	for _, at := range where {
		var s spy
		root := chi.NewRouter()
		root.Use(middleware.CleanPath, middleware.StripSlashes, middleware.GetHead)
		root.Mount("/", shop(&s, at))
		server := httptest.NewServer(root)
		t.Cleanup(server.Close)
		for _, c := range []struct{ method, path, want string }{
			{"GET", "/api/v1/users/7", "GET /api/v{version:[0-9]+}/users/{id}"},
			{"GET", "/api/v1/users/7/", "GET /api/v{version:[0-9]+}/users/{id}"},
			{"GET", "//api//v1/users//7", "GET /api/v{version:[0-9]+}/users/{id}"},
			{"GET", "/api/x/../v1/users/7", "GET /api/v{version:[0-9]+}/users/{id}"},
			{"HEAD", "/api/v1/users/7", "GET /api/v{version:[0-9]+}/users/{id}"},
			{"GET", "/api/v1/users/", "GET /api/v{version:[0-9]+}/users"},
			{"GET", "/api/files/a/b//c/", "GET /api/files/*"},
		} {
			if status, counted := s.request(t, server.URL, c.method, c.path); status != 200 || counted != c.want {
				t.Errorf("%s: %s %s: status %d, counted %q, want %q", at, c.method, c.path, status, counted, c.want)
			}
		}
	}
}

// TestRoutesBehindPlainHandlers: chi cannot see into them, so that all below is one
// route, but for a limiter at the inner route itself.
func TestRoutesBehindPlainHandlers(t *testing.T) {
	for at, want := range map[string]string{"root": "/v1/*", "outside": "/v1/*", "mount": "/v1/*", "route": "GET /v1/users/{id}"} {
		var s spy
		limit := func(place string) func(http.Handler) http.Handler {
			if at == place {
				return s.limit()
			}
			return func(next http.Handler) http.Handler { return next }
		}
		inner := chi.NewRouter()
		inner.Use(limit("mount"))
		inner.With(limit("route")).Get("/users/{id}", hello)
		inner.With(limit("route")).Get("/", hello)
		root := chi.NewRouter()
		root.Use(limit("root"))
		root.With(limit("outside")).Mount("/v1", http.TimeoutHandler(inner, 1e9, ""))
		server := httptest.NewServer(root)
		t.Cleanup(server.Close)
		if status, counted := s.request(t, server.URL, "GET", "/v1/users/7"); status != 200 || counted != want {
			t.Errorf("%s: status %d, counted %q, want %q", at, status, counted, want)
		}
		if at == "root" {
			for _, path := range []string{"/v1", "/v1/"} {
				if status, counted := s.request(t, server.URL, "GET", path); status != 200 || counted != "/v1/*" {
					t.Errorf("%s: status %d, counted %q", path, status, counted)
				}
			}
		}
	}
}

// TestRouteAroundRouter: outside the router the route is an error with the mend,
// not one key for all.
func TestRouteAroundRouter(t *testing.T) {
	var text string
	limits := ratelimit.With(ratelimit.Options{Logger: slog.New(slog.DiscardHandler), OnError: func(_ http.ResponseWriter, _ *http.Request, err error) { text = err.Error() }})
	handler := limits.New(core.PerMinute(1).By(keyfuncs.Route()))(shop(nil, ""))
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest("GET", "/api/v1/users/7", nil))
	if answer.Code != 500 || !strings.Contains(text, "put the middleware into Use") {
		t.Errorf("status %d, error %q", answer.Code, text)
	}
}

// TestOneBudget: whatever a client writes, one route has one budget, and all that
// is unmatched has one.
func TestOneBudget(t *testing.T) {
	router := chi.NewRouter()
	router.Use(ratelimit.New(core.PerHour(3).By(keyfuncs.Route())))
	router.Get("/users/{id}", hello)
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	for _, paths := range [][]string{
		{"/users/1", "/users/%32", "/users/3?x=1", "/users/4", "/users/%2F", "/users/USERS"},
		{"/users/1/", "//users/1", "/Users/1", "/user%73/1", "/nowhere", "/users"},
	} {
		for i, path := range paths {
			if status := send(t, server.URL, "GET", path); (status == 429) != (i >= 3) {
				t.Errorf("request %d, %s: status %d", i+1, path, status)
			}
		}
	}
}
