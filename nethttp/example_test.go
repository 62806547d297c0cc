package ratelimit_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
	ratelimit "github.com/ratelimit-go/ratelimit/nethttp"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

// visit sends a request to a handler and gives the answer's status.
func visit(h http.Handler, r *http.Request) int {
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)
	return answer.Code
}

func hello(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") }

// One line: 3 requests a minute for each client IP, counted in memory.
func ExampleNew() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", hello)
	server := httptest.NewServer(ratelimit.New(core.PerMinute(3))(mux))
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
		Store: redisstore.New(rdb, redisstore.Prefix("shop")),
		OnRefused: func(w http.ResponseWriter, _ *http.Request, r core.Result) {
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprintf(w, `{"retry":%d}`, r.RetryAfterSeconds())
		},
	})

	mux := http.NewServeMux()
	search := limits.New(core.PerMinute(30).Named("search"))
	mux.Handle("GET /search", search(http.HandlerFunc(hello)))
	mux.HandleFunc("GET /healthz", hello) // not limited
	_ = http.ListenAndServe(":8080", mux)
}

// Composite: a request is admitted only if both policies admit it, and is charged
// to both or to none.
func ExampleLimits_New() {
	limits := ratelimit.With(ratelimit.Options{Store: core.NewMemory()})
	api := limits.New(
		core.PerMinute(300).By(keyfuncs.IP()).Named("ip"),
		core.PerSecond(1).TokenBucket(2).By(keyfuncs.Header("X-API-Key")).Named("key"),
	)(http.HandlerFunc(hello))

	for range 3 {
		request := httptest.NewRequest("GET", "/api", nil)
		request.Header.Set("X-API-Key", "k1")
		answer := httptest.NewRecorder()
		api.ServeHTTP(answer, request)
		fmt.Println(answer.Code, answer.Header().Get("RateLimit-Policy"))
	}
	// Output:
	// 200 "ip";q=300;w=60, "key";q=2;w=2
	// 200 "ip";q=300;w=60, "key";q=2;w=2
	// 429 "ip";q=300;w=60, "key";q=2;w=2
}

// A key of one's own: failed logins by user name.
func ExampleKey() {
	login := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.PostFormValue("password") != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	limited := ratelimit.New(core.PerMinute(2).SlidingWindowLog().Named("login").Counting(core.CountFailures).By(
		ratelimit.Key(func(r *http.Request) (string, error) { return r.PostFormValue("user"), nil }),
	))(login)

	for _, try := range []struct{ user, password string }{
		{"ann", "secret"}, {"ann", "guess 1"}, {"ann", "guess 2"}, {"ann", "guess 3"}, {"bob", "secret"},
	} {
		form := url.Values{"user": {try.user}, "password": {try.password}}
		request := httptest.NewRequest("POST", "/login", strings.NewReader(form.Encode()))
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		fmt.Println(try.user, try.password, visit(limited, request))
	}
	// Output:
	// ann secret 200
	// ann guess 1 401
	// ann guess 2 401
	// ann guess 3 429
	// bob secret 200
}

// Behind other middleware the mux cannot be seen, and is handed over.
func ExampleRoute() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /users/{id}", hello)
	mux.HandleFunc("GET /teams/{id}", hello)
	logging := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(w, r) })
	}
	limited := ratelimit.New(core.PerMinute(2).By(ratelimit.Route(mux)))(logging(mux))

	for _, path := range []string{"/users/1", "/users/2", "/users/3", "/teams/1"} {
		fmt.Println(path, visit(limited, httptest.NewRequest("GET", path, nil)))
	}
	// Output:
	// /users/1 200
	// /users/2 200
	// /users/3 429
	// /teams/1 200
}

// A degrading policy lets requests pass, and the handler does less.
func ExampleResults() {
	search := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		result := ratelimit.Results(r)[0]
		fmt.Println("full search:", result.Decision(0).Allowed)
	})
	limited := ratelimit.New(core.PerMinute(1).Degrading())(search)

	for range 2 {
		visit(limited, httptest.NewRequest("GET", "/search", nil))
	}
	// Output:
	// full search: true
	// full search: false
}

// A plan for each tenant.
func ExampleUser() {
	tenant := ratelimit.User(func(r *http.Request) (string, bool) {
		name, _, ok := r.BasicAuth() // checked by middleware further out
		return name, ok
	})
	plan := func(r core.Request) (core.Limit, error) {
		switch name, _ := tenant(r); name {
		case "ours":
			return core.Unlimited(), nil
		case "big":
			return core.ParseLimit("2/minute")
		}
		return core.ParseLimit("1/minute")
	}
	limited := ratelimit.New(core.PerMinute(1).Named("plan").By(tenant).LimitBy(plan))(http.HandlerFunc(hello))

	for _, name := range []string{"small", "small", "big", "big", "ours", "ours", "ours"} {
		request := httptest.NewRequest("GET", "/", nil)
		request.SetBasicAuth(name, "")
		fmt.Println(name, visit(limited, request))
	}
	// Output:
	// small 200
	// small 429
	// big 200
	// big 200
	// ours 200
	// ours 200
	// ours 200
}

// A batch serves several requests within one. With a detached context each of them
// is charged, and so is the batch.
func Example_batch() {
	limit := ratelimit.New(core.PerMinute(4))
	part := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {})
	limited := limit(part)
	batch := limit(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		for range 4 {
			answer := httptest.NewRecorder()
			limited.ServeHTTP(answer, r.WithContext(pipeline.Detach(r.Context())))
			fmt.Println(answer.Code)
		}
	}))
	batch.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/batch", nil))
	// Output:
	// 200
	// 200
	// 200
	// 429
}
