package ratelimit_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/ratelimit-go/ratelimit/core"
	ratelimit "github.com/ratelimit-go/ratelimit/echo"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

// spy notes the route by which a limiter counts.
type spy struct{ counted atomic.Value }

func (s *spy) limit() echo.MiddlewareFunc {
	key := keyfuncs.Route()
	return ratelimit.New(core.PerSecond(1_000_000).By(func(r core.Request) (string, error) {
		route, err := key(r)
		s.counted.Store(route)
		return route, err
	}))
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

// where are the places at which a limiter can stand in the same app.
var where = []string{"root", "group", "inner group", "route"}

// shop is an app of groups in groups, limited at one of the places.
func shop(s *spy, at string) *echo.Echo {
	limit := func(place string) []echo.MiddlewareFunc {
		if at == place {
			return []echo.MiddlewareFunc{s.limit()}
		}
		return nil
	}
	e := quiet()
	e.Use(limit("root")...)
	api := e.Group("/api", limit("group")...)
	users := api.Group("/v:version/users", limit("inner group")...)
	users.GET("", hello, limit("route")...)
	users.GET("/:id", hello, limit("route")...)
	users.POST("/:user", hello, limit("route")...)
	users.Any("/:id/any", hello, limit("route")...)
	users.Match([]string{"GET", "HEAD"}, "/:id/both", hello, limit("route")...)
	users.HEAD("/:id/head", hello, limit("route")...)
	api.Group("/files", limit("inner group")...).GET("/*", hello, limit("route")...)
	return e
}

func TestRoutes(t *testing.T) {
	for _, at := range where {
		var s spy
		server := httptest.NewServer(shop(&s, at))
		t.Cleanup(server.Close)
		notFound := at == "group" || at == "inner group" // Echo answers 404 for 405 in groups with middleware
		for _, c := range []struct {
			name, method, path string
			status             int
			want               string
		}{
			{"a pattern, two groups deep", "GET", "/api/v1/users/7", 200, "GET /api/v:version/users/:id"},
			{"another id and version", "GET", "/api/v2/users/8?q=1", 200, "GET /api/v:version/users/:id"},
			{"its other method", "POST", "/api/v1/users/7", 200, "POST /api/v:version/users/:user"},
			{"percent-encoded", "GET", "/api/v1/users/%37", 200, "GET /api/v:version/users/:id"},
			{"a slash in the id", "GET", "/api/v1/users/a%2Fb", 200, "GET /api/v:version/users/:id"},
			{"any method", "DELETE", "/api/v1/users/7/any", 200, "/api/v:version/users/:id/any"},
			{"HEAD where any method serves", "HEAD", "/api/v1/users/7/any", 200, "/api/v:version/users/:id/any"},
			{"HEAD beside GET", "HEAD", "/api/v1/users/7/both", 200, "GET /api/v:version/users/:id/both"},
			{"HEAD alone", "HEAD", "/api/v1/users/7/head", 200, "HEAD /api/v:version/users/:id/head"},
			{"a group itself", "GET", "/api/v1/users", 200, "GET /api/v:version/users"},
			{"a wildcard", "GET", "/api/files/a/b", 200, "GET /api/files/*"},
			{"a wildcard of nothing", "GET", "/api/files/", 200, "GET /api/files/*"},
			{"slashes doubled below a wildcard", "GET", "/api/files//a", 200, "GET /api/files/*"},

			{"405", "DELETE", "/api/v1/users/7", 405, "unmatched"},
			{"HEAD where GET does not serve it", "HEAD", "/api/v1/users/7", 405, "unmatched"},
			{"OPTIONS, which Echo answers by itself", "OPTIONS", "/api/v1/users/7", 204, "unmatched"},
			{"a method that does not exist", "BREW", "/api/v1/users/7", 405, "unmatched"},
			{"one where any method serves", "BREW", "/api/v1/users/7/any", 405, "unmatched"},
			{"a method in small letters", "get", "/api/v1/users/7", 405, "unmatched"},
			{"Echo's own name for a route that is none", echo.RouteNotFound, "/api/v1/users/7", 405, "unmatched"},
			{"404", "GET", "/nowhere", 404, "unmatched"},
			{"404 in a group", "GET", "/api/v1/nowhere/7", 404, "unmatched"},
			{"404 in a group by an invented method", "BREW", "/api/v1/nowhere/7", 404, "unmatched"},
			{"404 of a group itself", "GET", "/api", 404, "unmatched"},
			{"405 of a wildcard", "BREW", "/api/files/a", 405, "unmatched"},
			{"slashes doubled", "GET", "//api//v1/users/7", 404, "unmatched"},
			{"in capitals", "GET", "/API/v1/users/7", 404, "unmatched"},
		} {
			status, counted := s.request(t, server.URL, c.method, c.path)
			if status != c.status && (!notFound || c.want != "unmatched" || status != 404) {
				t.Errorf("%s: %s: status %d, want %d", at, c.name, status, c.status)
			}
			if counted != c.want && (counted != "" || c.want != "unmatched") {
				t.Errorf("%s: %s: counted %q, want %q", at, c.name, counted, c.want)
			}
		}
	}
}

// TestRoutesBehindRewriters: what rewrites paths or methods in Pre opens no second
// budget.
func TestRoutesBehindRewriters(t *testing.T) {
	for _, at := range where {
		var s spy
		e := shop(&s, at)
		e.Pre(middleware.RemoveTrailingSlash(), middleware.Rewrite(map[string]string{"/old/*": "/api/v1/users/$1"}), middleware.MethodOverride())
		server := httptest.NewServer(e)
		t.Cleanup(server.Close)
		for _, path := range []string{"/api/v1/users/7", "/api/v1/users/7/", "/old/7", "/old/7/"} {
			if status, counted := s.request(t, server.URL, "GET", path); status != 200 || counted != "GET /api/v:version/users/:id" {
				t.Errorf("%s: %s: status %d, counted %q", at, path, status, counted)
			}
		}
	}
}

// TestRouteOfHosts: hosts have routers of their own.
func TestRouteOfHosts(t *testing.T) {
	var s spy
	e := quiet()
	e.Use(s.limit())
	e.GET("/:x", hello)
	hosted := e.Host("api.example")
	hosted.GET("/:x", hello)
	hosted.RouteNotFound("/*", hello)
	for _, c := range []struct{ host, method, path, want string }{
		{"api.example", "GET", "/1", "GET api.example/:x"},
		{"api.example", "BREW", "/1", "unmatched"},
		{"other.example", "GET", "/1", "GET /:x"},
		{"", "GET", "/1/2/3", "GET /:x"},
		{"other.example", "POST", "/1", "unmatched"},
	} {
		r := httptest.NewRequest(c.method, c.path, nil)
		r.Host = c.host
		e.ServeHTTP(httptest.NewRecorder(), r)
		if got := s.counted.Load(); got != c.want {
			t.Errorf("%s %s%s: counted %q, want %q", c.method, c.host, c.path, got, c.want)
		}
	}
}

// TestRouteInPre: before the router the route is an error with the mend, not one
// key for all.
func TestRouteInPre(t *testing.T) {
	var text string
	limits := ratelimit.With(ratelimit.Options{Logger: slog.New(slog.DiscardHandler), OnError: func(_ echo.Context, err error) error {
		text = err.Error()
		return nil
	}})
	e := shop(nil, "")
	e.Pre(limits.New(core.PerMinute(1).By(keyfuncs.Route())))
	for _, c := range []struct {
		path   string
		status int
		mend   string
	}{
		{"/api/v1/users/7", 500, "put the middleware into Use"},
		{"/api/v1/users/7/any", 500, "put the middleware into Use"},
		{"/nowhere", 404, ""},
	} {
		text = ""
		answer := httptest.NewRecorder()
		e.ServeHTTP(answer, httptest.NewRequest("GET", c.path, nil))
		if answer.Code != c.status || (text == "") != (c.mend == "") || !strings.Contains(text, c.mend) {
			t.Errorf("%s: status %d, error %q", c.path, answer.Code, text)
		}
	}
}

// TestOneBudget: whatever a client writes, one route has one budget, and all that
// is unmatched has one.
func TestOneBudget(t *testing.T) {
	e := quiet()
	e.Use(ratelimit.New(core.PerHour(3).By(keyfuncs.Route())))
	e.GET("/users/:id", hello)
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	for _, paths := range [][]string{
		{"/users/1", "/users/%32", "/users/3?x=1", "/users/4", "/users/5/", "/users//6", "/users/%2F"},
		{"//users/1", "/Users/1", "/user%73/1", "/nowhere", "/users"},
	} {
		for i, path := range paths {
			if status := send(t, server.URL, "GET", path); (status == 429) != (i >= 3) {
				t.Errorf("request %d, %s: status %d", i+1, path, status)
			}
		}
	}
	for _, method := range []string{"HEAD", "POST", "BREW", "OPTIONS"} {
		if status := send(t, server.URL, method, "/users/1"); status != 429 {
			t.Errorf("%s: status %d, want 429 as for all that is unmatched", method, status)
		}
	}
}
