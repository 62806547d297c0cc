package ratelimit_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/ratelimit-go/ratelimit/core"
	ratelimit "github.com/ratelimit-go/ratelimit/gin"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

// counted gives the route by which a request is counted, "none" where it does not
// come to the limiter.
func counted(router *gin.Engine, found *string, method, path string) string {
	*found = "none"
	router.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(method, path, nil))
	return *found
}

// spy is a limiter by route that notes it.
func spy(found *string) gin.HandlerFunc {
	key := keyfuncs.Route()
	return ratelimit.New(core.PerSecond(1_000_000).By(func(r core.Request) (string, error) {
		route, err := key(r)
		*found = route
		return route, err
	}))
}

// TestOneHandlerIsOneRoute: no method of a handler opens a second budget.
func TestOneHandlerIsOneRoute(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	var found string
	router := gin.New()
	router.HandleMethodNotAllowed = true
	router.Use(spy(&found))
	handler := func(c *gin.Context) { c.Status(http.StatusOK) }
	router.Any("/any/:id", handler)
	router.Group("/api").Any("/any", handler)
	router.GET("/both", handler)
	router.HEAD("/both", handler)
	router.HEAD("/head", handler)
	router.Match([]string{"GET", "POST"}, "/two", handler)
	unmatched := counted(router, &found, "GET", "/nowhere")
	for _, c := range []struct{ method, path, want string }{
		{"GET", "/any/1", "/any/:id"},
		{"POST", "/any/2", "/any/:id"},
		{"HEAD", "/any/3", "/any/:id"},
		{"TRACE", "/any/4", "/any/:id"},
		{"BREW", "/any/5", unmatched},
		{"DELETE", "/api/any", "/api/any"},
		{"GET", "/both", "GET /both"},
		{"HEAD", "/both", "GET /both"},
		{"POST", "/both", unmatched},
		{"HEAD", "/head", "HEAD /head"},
		{"GET", "/two", "GET /two"},
		{"POST", "/two", "POST /two"},
		{"PUT", "/elsewhere", unmatched},
	} {
		if got := counted(router, &found, c.method, c.path); got != c.want {
			t.Errorf("%s %s is counted by %q, want %q", c.method, c.path, got, c.want)
		}
	}
	router.GET("/late", handler)
	if got := counted(router, &found, "GET", "/late"); got != "GET /late" {
		t.Errorf("a route added since is counted by %q", got)
	}
}

// TestEachEngineHasItsRoutes: one middleware may serve several.
func TestEachEngineHasItsRoutes(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	var found string
	limit := spy(&found)
	handler := func(c *gin.Context) { c.Status(http.StatusOK) }
	one, other := gin.New(), gin.New()
	one.Use(limit)
	one.Any("/", handler)
	other.Use(limit)
	other.GET("/", handler)
	for router, want := range map[*gin.Engine]string{one: "/", other: "GET /"} {
		if got := counted(router, &found, "GET", "/"); got != want {
			t.Errorf("counted by %q, want %q", got, want)
		}
	}
}
