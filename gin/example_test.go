package ratelimit_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	ratelimit "github.com/ratelimit-go/ratelimit/gin"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

func hello(c *gin.Context) { c.String(200, "hello") }

func newRouter() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	return gin.New()
}

// One line: 3 requests a minute for each client IP, counted in memory.
func ExampleNew() {
	router := newRouter()
	router.Use(ratelimit.New(core.PerMinute(3)))
	router.GET("/", hello)
	server := httptest.NewServer(router)
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
		Store:     redisstore.New(rdb, redisstore.Prefix("shop")), // any redis.UniversalClient
		OnRefused: func(c *gin.Context, r core.Result) { c.JSON(429, gin.H{"retry": r.RetryAfterSeconds()}) },
	})

	router := newRouter()
	router.GET("/search", limits.New(core.PerMinute(30).Named("search")), hello)
	router.GET("/healthz", hello) // not limited
	_ = router.Run(":8080")
}

// Composite: a request is admitted only if both policies admit it, and is charged
// to both or to none.
func ExampleLimits_New() {
	limits := ratelimit.With(ratelimit.Options{
		Store:     core.NewMemory(),
		OnRefused: func(c *gin.Context, r core.Result) { c.JSON(429, gin.H{"retry": r.RetryAfterSeconds()}) },
	})
	router := newRouter()
	api := router.Group("/api", limits.New(
		core.PerMinute(300).By(keyfuncs.IP()).Named("ip"),
		core.PerSecond(1).TokenBucket(2).By(keyfuncs.Header("X-API-Key")).Named("key"),
	))
	api.GET("/search", hello)

	for range 3 {
		request := httptest.NewRequest("GET", "/api/search", nil)
		request.Header.Set("X-API-Key", "k1")
		answer := httptest.NewRecorder()
		router.ServeHTTP(answer, request)
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
	login := func(c *gin.Context) {
		if c.PostForm("password") != "secret" {
			c.Status(http.StatusUnauthorized)
		}
	}
	router := newRouter()
	router.POST("/login", limits.New(core.PerMinute(2).SlidingWindowLog().Named("login").Counting(core.CountFailures).By(
		ratelimit.Key(func(c *gin.Context) (string, error) { return c.PostForm("user"), nil }))), login)

	for _, try := range []struct{ user, password string }{
		{"ann", "secret"}, {"ann", "guess 1"}, {"ann", "guess 2"}, {"ann", "guess 3"}, {"bob", "secret"},
	} {
		form := url.Values{"user": {try.user}, "password": {try.password}}
		request := httptest.NewRequest("POST", "/login", strings.NewReader(form.Encode()))
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer := httptest.NewRecorder()
		router.ServeHTTP(answer, request)
		fmt.Println(try.user, try.password, answer.Code)
	}
	// Output:
	// ann secret 200
	// ann guess 1 401
	// ann guess 2 401
	// ann guess 3 429
	// bob secret 200
}

// A degrading policy lets requests pass, and the handler does less.
func ExampleResults() {
	router := newRouter()
	router.GET("/search", ratelimit.New(core.PerMinute(1).Degrading()), func(c *gin.Context) {
		result := ratelimit.Results(c)[0]
		fmt.Println("full search:", result.Decision(0).Allowed)
	})

	for range 2 {
		router.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/search", nil))
	}
	// Output:
	// full search: true
	// full search: false
}
