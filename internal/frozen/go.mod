// The test of a frozen server, in a module of its own: what finds leaks does not enter
// the library's requirements.
module github.com/ratelimit-go/ratelimit/internal/frozen

go 1.25.0

replace github.com/ratelimit-go/ratelimit => ../..

require (
	github.com/ratelimit-go/ratelimit v0.0.0
	github.com/redis/go-redis/v9 v9.19.0
	go.uber.org/goleak v1.3.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/sony/gobreaker/v2 v2.4.0 // indirect
	go.uber.org/atomic v1.11.0 // indirect
)
