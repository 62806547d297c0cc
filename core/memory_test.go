package core_test

import (
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, func(t testing.TB) core.Store {
		m := core.NewMemory()
		t.Cleanup(func() { m.Close() })
		return m
	})
}
