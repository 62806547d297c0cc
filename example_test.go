package ratelimit_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
	ratelimit "github.com/ratelimit-go/ratelimit/nethttp"
)

// A middleware with two policies: what a client meets, field by field.
func Example() {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	limits := ratelimit.With(ratelimit.Options{Now: func() time.Time { return now }}) // a clock for the example
	limit := limits.New(
		core.PerMinute(2).FixedWindow().Named("minute"),
		core.PerHour(100).FixedWindow().Named("hour").By(keyfuncs.Header("X-API-Key")),
	)
	handler := limit(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }))

	for range 3 {
		now = now.Add(time.Second)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest("GET", "/", nil))
		fmt.Printf("%d %s, retry after %q\n", answer.Code, answer.Header().Get("RateLimit"), answer.Header().Get("Retry-After"))
	}
	// Output:
	// 200 "minute";r=1;t=59, "hour";r=99;t=3599, retry after ""
	// 200 "minute";r=0;t=58, "hour";r=98;t=3598, retry after ""
	// 429 "minute";r=0;t=57, "hour";r=98;t=3597, retry after "57"
}

// The engine alone, for jobs and queues.
func Example_engine() {
	limiter, err := core.NewLimiter(nil, core.PerSecond(50).TokenBucket(2).Named("mails"))
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	for range 3 {
		result, err := limiter.Take(ctx, "ann")
		if err != nil {
			panic(err)
		}
		fmt.Println("sent at once:", result.Allowed)
	}
	if err := limiter.Wait(ctx, "ann"); err != nil { // sleeps until it is admitted
		panic(err)
	}
	fmt.Println("sent after a wait")
	// Output:
	// sent at once: true
	// sent at once: true
	// sent at once: false
	// sent after a wait
}

// Policies often come from files: nothing panics there.
func Example_configuration() {
	for _, text := range []string{"100/minute", "10/s burst 20", "100 a minute"} {
		limit, err := core.ParseLimit(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(core.PerLimit(limit).Algorithm, limit)
	}
	// Output:
	// sliding_window_counter 100/minute
	// token_bucket 10/second burst 20
	// ratelimit: invalid limit "100 a minute": write it as "100/minute", "5 per 30s" or "10/s burst 20"
}
