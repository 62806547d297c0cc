package ratelimit_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	ratelimit "github.com/ratelimit-go/ratelimit/echo"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

func hello(c echo.Context) error { return c.String(200, "hello") }

// One line: 3 requests a minute for each client IP, counted in memory.
func ExampleNew() {
	e := echo.New()
	e.Use(ratelimit.New(core.PerMinute(3)))
	e.GET("/", hello)
	server := httptest.NewServer(e)
	defer server.Close()

	for range 4 {
		answer, err := http.Get(server.URL)
		if err != nil {
			panic(err)
		}
		answer.Body.Close()
		fmt.Println(answer.StatusCode, "remaining", answer.Header.Get("RateLimit-Remaining"))
	}
	// Output:
	// 200 remaining 2
	// 200 remaining 1
	// 200 remaining 0
	// 429 remaining 0
}

// Shared settings once, then policies where they belong. A store in Redis is
// shared by all instances of the service.
func ExampleWith() {
	rdb := redis.NewClient(&redis.Options{Addr: "localhost:6379", ContextTimeoutEnabled: true})
	limits := ratelimit.With(ratelimit.Options{
		Store: redisstore.New(rdb, redisstore.Prefix("shop")), // any redis.UniversalClient
		OnRefused: func(c echo.Context, r core.Result) error {
			return c.JSON(429, echo.Map{"retry": r.RetryAfterSeconds()})
		},
	})

	e := echo.New()
	e.GET("/search", hello, limits.New(core.PerMinute(30).Named("search")))
	e.GET("/healthz", hello) // not limited
	_ = e.Start(":8080")
}

// Composite: a request is admitted only if both policies admit it, and is charged
// to both or to none.
func ExampleLimits_New() {
	limits := ratelimit.With(ratelimit.Options{
		Store: core.NewMemory(),
		OnRefused: func(c echo.Context, r core.Result) error {
			return c.JSON(429, echo.Map{"retry": r.RetryAfterSeconds()})
		},
	})
	e := echo.New()
	api := e.Group("/api", limits.New(
		core.PerMinute(300).By(keyfuncs.IP()).Named("ip"),
		core.PerSecond(1).TokenBucket(2).By(keyfuncs.Header("X-API-Key")).Named("key"),
	))
	api.GET("/search", hello)

	for range 3 {
		request := httptest.NewRequest("GET", "/api/search", nil)
		request.Header.Set("X-API-Key", "k1")
		answer := httptest.NewRecorder()
		e.ServeHTTP(answer, request)
		fmt.Println(answer.Code, answer.Header().Get("RateLimit-Policy"), answer.Body)
	}
	// Output:
	// 200 "ip";q=300;w=60, "key";q=2;w=2 hello
	// 200 "ip";q=300;w=60, "key";q=2;w=2 hello
	// 429 "ip";q=300;w=60, "key";q=2;w=2 {"retry":1}
}

// Per route, and a key from the framework's own context: failed logins by user
// name.
func ExampleKey() {
	limits := ratelimit.With(ratelimit.Options{})
	login := func(c echo.Context) error {
		if c.FormValue("password") != "secret" {
			return echo.ErrUnauthorized
		}
		return c.NoContent(http.StatusOK)
	}
	e := echo.New()
	e.POST("/login", login, limits.New(core.PerMinute(2).SlidingWindowLog().Named("login").Counting(core.CountFailures).By(
		ratelimit.Key(func(c echo.Context) (string, error) { return c.FormValue("user"), nil }))))

	for _, try := range []struct{ user, password string }{
		{"ann", "secret"}, {"ann", "guess 1"}, {"ann", "guess 2"}, {"ann", "guess 3"}, {"bob", "secret"},
	} {
		form := url.Values{"user": {try.user}, "password": {try.password}}
		request := httptest.NewRequest("POST", "/login", strings.NewReader(form.Encode()))
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer := httptest.NewRecorder()
		e.ServeHTTP(answer, request)
		fmt.Println(try.user, try.password, answer.Code)
	}
	// Output:
	// ann secret 200
	// ann guess 1 401
	// ann guess 2 401
	// ann guess 3 429
	// bob secret 200
}

// A plan for each tenant, by a name from the route.
func ExampleUser() {
	tenant := ratelimit.User(func(c echo.Context) (string, bool) {
		name := c.Param("tenant")
		return name, name != ""
	})
	plan := func(r core.Request) (core.Limit, error) {
		if name, _ := tenant(r); name == "big" {
			return core.ParseLimit("2/minute")
		}
		return core.ParseLimit("1/minute")
	}
	e := echo.New()
	e.GET("/:tenant/search", hello, ratelimit.New(core.PerMinute(1).Named("plan").By(tenant).LimitBy(plan)))

	for _, path := range []string{"/small/search", "/small/search", "/big/search", "/big/search", "/big/search"} {
		answer := httptest.NewRecorder()
		e.ServeHTTP(answer, httptest.NewRequest("GET", path, nil))
		fmt.Println(path, answer.Code)
	}
	// Output:
	// /small/search 200
	// /small/search 429
	// /big/search 200
	// /big/search 200
	// /big/search 429
}

// A degrading policy lets requests pass, and the handler does less.
func ExampleResults() {
	e := echo.New()
	search := func(c echo.Context) error {
		result := ratelimit.Results(c)[0]
		fmt.Println("full search:", result.Decision(0).Allowed)
		return nil
	}
	e.GET("/search", search, ratelimit.New(core.PerMinute(1).Degrading()))

	for range 2 {
		e.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/search", nil))
	}
	// Output:
	// full search: true
	// full search: false
}
