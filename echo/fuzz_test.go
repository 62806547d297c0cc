package ratelimit_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

// stamped is a handler that says by which name it is to be counted.
func stamped(name string) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Header().Set("Served", name)
		return nil
	}
}

func stampedApp(s *spy) *echo.Echo {
	e := quiet()
	e.Pre(middleware.RemoveTrailingSlash())
	e.Use(s.limit())
	e.GET("/", stamped("GET /"))
	a := e.Group("/a", recovered)
	a.GET("", stamped("GET /a"))
	a.GET("/:x", stamped("GET /a/:x"))
	a.POST("/:y", stamped("POST /a/:y"))
	a.GET("/:x/b/:z", stamped("GET /a/:x/b/:z"))
	a.Any("/:x/any", stamped("/a/:x/any"))
	a.Match([]string{"GET", "HEAD"}, "/both", stamped("GET /a/both"))
	e.GET("/w/*", stamped("GET /w/*"))
	e.RouteNotFound("/w/*", echo.NotFoundHandler)
	e.RouteNotFound("/*", echo.NotFoundHandler)
	return e
}

// FuzzRoutes: what is counted is what serves, whatever a client writes.
func FuzzRoutes(f *testing.F) {
	for _, method := range []string{"GET", "HEAD", "POST", "BREW", "get", "OPTIONS", echo.RouteNotFound, ""} {
		for _, path := range []string{
			"/", "", "/a", "/a/", "/a/1", "/a/1/", "/a/1/b/2", "/a/1/any", "/a/both", "/a/both/", "/a/1/b", "/a/1/b/2/3",
			"/w", "/w/", "/w/1//2", "//", "/a//", "/a//b/2", "/a/%2F/b/%32", "/A/1", "/a/*", "/a/:x",
		} {
			f.Add(method, path)
		}
	}
	var s spy
	app := stampedApp(&s)
	f.Fuzz(func(t *testing.T, method, path string) {
		target, err := url.ParseRequestURI(path)
		if err != nil {
			return
		}
		s.counted.Store("")
		answer := httptest.NewRecorder()
		app.ServeHTTP(answer, &http.Request{Method: method, URL: target, Header: http.Header{}, Host: "h", RemoteAddr: "192.0.2.1:1", Body: http.NoBody})
		want := answer.Header().Get("Served")
		if want == "" {
			want = "unmatched"
		}
		if got := s.counted.Load(); got != want {
			t.Errorf("%s %s: counted %q, served %q", method, path, got, want)
		}
	})
}
