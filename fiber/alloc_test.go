//go:build !race

package ratelimit_test

import (
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
	ratelimit "github.com/ratelimit-go/ratelimit/fiber"
)

// TestPathAllocations holds what the path costs: the exchange with all that hangs
// on it, the address as text, and the values of the fields. One is the test's own.
// The race detector makes pools forget, on purpose.
func TestPathAllocations(t *testing.T) {
	serve := request(ratelimit.New(core.PerMinute(1_000_000)))
	if n := testing.AllocsPerRun(1000, serve); n > 4 {
		t.Errorf("%v allocations for a request, want at most 4", n)
	}
}
