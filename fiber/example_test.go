package ratelimit_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	ratelimit "github.com/ratelimit-go/ratelimit/fiber"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

func hello(c *fiber.Ctx) error { return c.SendString("hello") }

// visit sends a request to an app.
func visit(app *fiber.App, request *http.Request) (answer *http.Response, body string) {
	answer, err := app.Test(request)
	if err != nil {
		panic(err)
	}
	text, _ := io.ReadAll(answer.Body)
	return answer, string(text)
}

// One line: 3 requests a minute for each client IP, counted in memory.
func ExampleNew() {
	app := fiber.New()
	app.Use(ratelimit.New(core.PerMinute(3)))
	app.Get("/", hello)

	for range 4 {
		answer, _ := visit(app, httptest.NewRequest("GET", "/", nil))
		fmt.Println(answer.StatusCode, "remaining", answer.Header.Get("RateLimit-Remaining"))
	}
	// Output:
	// 200 remaining 2
	// 200 remaining 1
	// 200 remaining 0
	// 429 remaining 0
}

// Shared settings once, then policies where they belong. A store in Redis is shared
// by all instances of the service, and by the children of a prefork. What a hook
// returns goes to the app's ErrorHandler.
func ExampleWith() {
	rdb := redis.NewClient(&redis.Options{Addr: "localhost:6379", ContextTimeoutEnabled: true})
	limits := ratelimit.With(ratelimit.Options{
		Store:     redisstore.New(rdb, redisstore.Prefix("shop")), // any redis.UniversalClient
		OnRefused: func(*fiber.Ctx, core.Result) error { return fiber.ErrTooManyRequests },
	})

	app := fiber.New(fiber.Config{StreamRequestBody: true}) // refuses an upload before its body is read
	app.Get("/search", limits.New(core.PerMinute(30).Named("search")), hello)
	app.Post("/photos", limits.New(core.PerHour(10).Named("photos")), hello)
	app.Get("/healthz", hello) // not limited
	_ = app.Listen(":8080")
}

// Composite: a request is admitted only if both policies admit it, and is charged
// to both or to none.
func ExampleLimits_New() {
	limits := ratelimit.With(ratelimit.Options{
		Store: core.NewMemory(),
		OnRefused: func(c *fiber.Ctx, r core.Result) error {
			return c.Status(429).JSON(fiber.Map{"retry": r.RetryAfterSeconds()})
		},
	})
	app := fiber.New()
	api := app.Group("/api", limits.New(
		core.PerMinute(300).By(keyfuncs.IP()).Named("ip"),
		core.PerSecond(1).TokenBucket(2).By(keyfuncs.Header("X-API-Key")).Named("key"),
	))
	api.Get("/search", hello)

	for range 3 {
		request := httptest.NewRequest("GET", "/api/search", nil)
		request.Header.Set("X-API-Key", "k1")
		answer, body := visit(app, request)
		fmt.Println(answer.StatusCode, answer.Header.Get("RateLimit-Policy"), body)
	}
	// Output:
	// 200 "ip";q=300;w=60, "key";q=2;w=2 hello
	// 200 "ip";q=300;w=60, "key";q=2;w=2 hello
	// 429 "ip";q=300;w=60, "key";q=2;w=2 {"retry":1}
}

// Per route, and a key from the framework's own context: failed logins by user
// name. The error that the handler returns counts by its code.
func ExampleKey() {
	limits := ratelimit.With(ratelimit.Options{})
	login := func(c *fiber.Ctx) error {
		if c.FormValue("password") != "secret" {
			return fiber.ErrUnauthorized
		}
		return nil
	}
	app := fiber.New()
	app.Post("/login", limits.New(core.PerMinute(2).SlidingWindowLog().Named("login").Counting(core.CountFailures).By(
		ratelimit.Key(func(c *fiber.Ctx) (string, error) { return c.FormValue("user"), nil }))), login)

	for _, try := range []struct{ user, password string }{
		{"ann", "secret"}, {"ann", "guess 1"}, {"ann", "guess 2"}, {"ann", "guess 3"}, {"bob", "secret"},
	} {
		form := url.Values{"user": {try.user}, "password": {try.password}}
		request := httptest.NewRequest("POST", "/login", strings.NewReader(form.Encode()))
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer, _ := visit(app, request)
		fmt.Println(try.user, try.password, answer.StatusCode)
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
	app := fiber.New()
	app.Get("/search", ratelimit.New(core.PerMinute(1).Degrading()), func(c *fiber.Ctx) error {
		result := ratelimit.Results(c)[0]
		fmt.Println("full search:", result.Decision(0).Allowed)
		return nil
	})

	for range 2 {
		visit(app, httptest.NewRequest("GET", "/search", nil))
	}
	// Output:
	// full search: true
	// full search: false
}
