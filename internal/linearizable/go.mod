// The tests of concurrent histories, in a module of its own: what checks them does not
// enter the library's requirements.
module github.com/ratelimit-go/ratelimit/internal/linearizable

go 1.25.0

replace github.com/ratelimit-go/ratelimit => ../..

require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/ratelimit-go/ratelimit v0.0.0
	github.com/redis/go-redis/v9 v9.19.0
)

require (
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/sony/gobreaker/v2 v2.4.0 // indirect
	go.uber.org/atomic v1.11.0 // indirect
)
