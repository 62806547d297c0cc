package headers_test

import (
	"context"
	"fmt"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/headers"
)

// What a client is told of a bucket of one token: first that it is empty, then
// when to come back.
func Example() {
	limiter, err := core.NewLimiter(nil, core.PerMinute(1).TokenBucket(1).Named("ip"))
	if err != nil {
		panic(err)
	}
	format, err := headers.New()
	if err != nil {
		panic(err)
	}
	limiter = limiter.WithNow(func() time.Time { return time.Unix(1_700_000_000, 0) })
	for range 2 {
		r, err := limiter.Take(context.Background(), "198.51.100.7")
		if err != nil {
			panic(err)
		}
		for _, field := range format.Append(nil, time.Time{}, &r) {
			fmt.Printf("%s: %s\n", field.Name, field.Value)
		}
		if r.Allowed {
			continue
		}
		status, fields, body := headers.Refused(&r, []string{"text/plain"})
		fmt.Println(status)
		for _, field := range fields {
			fmt.Printf("%s: %s\n", field.Name, field.Value)
		}
		fmt.Print(body)
	}
	// Output:
	// Ratelimit-Policy: "ip";q=1;w=60
	// Ratelimit: "ip";r=0;t=60
	// Ratelimit-Limit: 1
	// Ratelimit-Remaining: 0
	// Ratelimit-Reset: 60
	// Ratelimit-Policy: "ip";q=1;w=60
	// Ratelimit: "ip";r=0;t=60
	// Ratelimit-Limit: 1
	// Ratelimit-Remaining: 0
	// Ratelimit-Reset: 60
	// 429
	// Content-Type: text/plain; charset=utf-8
	// Cache-Control: no-store
	// Retry-After: 60
	// Too many requests: retry in 60 seconds.
}
