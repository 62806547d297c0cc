// The tests of what clients make of the fields, in a module of its own: what they
// need does not enter the library's requirements.
module github.com/ratelimit-go/ratelimit/internal/clienttest

go 1.25

replace github.com/ratelimit-go/ratelimit => ../..

require (
	github.com/dunglas/httpsfv v1.1.2
	github.com/hashicorp/go-retryablehttp v0.7.8
	github.com/ratelimit-go/ratelimit v0.0.0
)

require github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
