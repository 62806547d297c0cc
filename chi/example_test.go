package ratelimit_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/redis/go-redis/v9"

	ratelimit "github.com/ratelimit-go/ratelimit/chi"
	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

func hello(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }

// One line: 3 requests a minute for each client IP, counted in memory.
func ExampleNew() {
	r := chi.NewRouter()
	r.Use(ratelimit.New(core.PerMinute(3)))
	r.Get("/", hello)
	server := httptest.NewServer(r)
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
		OnRefused: func(w http.ResponseWriter, _ *http.Request, r core.Result) {
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprintf(w, `{"retry":%d}`, r.RetryAfterSeconds())
		},
	})

	r := chi.NewRouter()
	r.With(limits.New(core.PerMinute(30).Named("search"))).Get("/search", hello)
	r.Get("/healthz", hello) // not limited
	_ = http.ListenAndServe(":8080", r)
}

// Composite: a request is admitted only if both policies admit it, and is charged
// to both or to none.
func ExampleLimits_New() {
	limits := ratelimit.With(ratelimit.Options{
		Store: core.NewMemory(),
		OnRefused: func(w http.ResponseWriter, _ *http.Request, r core.Result) {
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprintf(w, `{"retry":%d}`, r.RetryAfterSeconds())
		},
	})
	r := chi.NewRouter()
	r.Route("/api", func(r chi.Router) {
		r.Use(limits.New(
			core.PerMinute(300).By(keyfuncs.IP()).Named("ip"),
			core.PerSecond(1).TokenBucket(2).By(keyfuncs.Header("X-API-Key")).Named("key"),
		))
		r.Get("/search", hello)
	})

	for range 3 {
		request := httptest.NewRequest("GET", "/api/search", nil)
		request.Header.Set("X-API-Key", "k1")
		answer := httptest.NewRecorder()
		r.ServeHTTP(answer, request)
		fmt.Println(answer.Code, answer.Header().Get("RateLimit-Policy"), answer.Body)
	}
	// Output:
	// 200 "ip";q=300;w=60, "key";q=2;w=2 hello
	// 200 "ip";q=300;w=60, "key";q=2;w=2 hello
	// 429 "ip";q=300;w=60, "key";q=2;w=2 {"retry":1}
}

// Per route, and a key of one's own: failed logins by user name.
func ExampleKey() {
	limits := ratelimit.With(ratelimit.Options{})
	login := func(w http.ResponseWriter, r *http.Request) {
		if r.PostFormValue("password") != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}
	r := chi.NewRouter()
	r.With(limits.New(core.PerMinute(2).SlidingWindowLog().Named("login").Counting(core.CountFailures).By(
		ratelimit.Key(func(r *http.Request) (string, error) { return r.PostFormValue("user"), nil })))).Post("/login", login)

	for _, try := range []struct{ user, password string }{
		{"ann", "secret"}, {"ann", "guess 1"}, {"ann", "guess 2"}, {"ann", "guess 3"}, {"bob", "secret"},
	} {
		form := url.Values{"user": {try.user}, "password": {try.password}}
		request := httptest.NewRequest("POST", "/login", strings.NewReader(form.Encode()))
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer := httptest.NewRecorder()
		r.ServeHTTP(answer, request)
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
	tenant := ratelimit.User(func(r *http.Request) (string, bool) {
		name := chi.URLParam(r, "tenant")
		return name, name != ""
	})
	plan := func(r core.Request) (core.Limit, error) {
		if name, _ := tenant(r); name == "big" {
			return core.ParseLimit("2/minute")
		}
		return core.ParseLimit("1/minute")
	}
	r := chi.NewRouter()
	r.With(ratelimit.New(core.PerMinute(1).Named("plan").By(tenant).LimitBy(plan))).Get("/{tenant}/search", hello)

	for _, path := range []string{"/small/search", "/small/search", "/big/search", "/big/search", "/big/search"} {
		answer := httptest.NewRecorder()
		r.ServeHTTP(answer, httptest.NewRequest("GET", path, nil))
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
	r := chi.NewRouter()
	r.With(ratelimit.New(core.PerMinute(1).Degrading())).Get("/search", func(_ http.ResponseWriter, r *http.Request) {
		result := ratelimit.Results(r)[0]
		fmt.Println("full search:", result.Decision(0).Allowed)
	})

	for range 2 {
		r.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/search", nil))
	}
	// Output:
	// full search: true
	// full search: false
}
