package ratelimit_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
	ratelimit "github.com/ratelimit-go/ratelimit/fiber"
)

// elsewhere is a store that is not in this process's memory.
type elsewhere struct{ core.Store }

func TestPreforkWarning(t *testing.T) {
	for _, c := range []struct {
		name  string
		child string
		store core.Store
		want  int
	}{
		{"no child", "", nil, 0},
		{"a child with the default store", "1", nil, 1},
		{"a child with a store in memory", "1", core.NewMemory(), 1},
		{"a child with another store", "1", elsewhere{core.NewMemory()}, 0},
	} {
		t.Setenv("FIBER_PREFORK_CHILD", c.child)
		var log bytes.Buffer
		limits := ratelimit.With(ratelimit.Options{Store: c.store, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		for range 2 {
			limits.New(core.PerMinute(100).Named("p"))
		}
		if n := strings.Count(log.String(), "Prefork"); n != c.want {
			t.Errorf("%s: logged %d times, want %d", c.name, n, c.want)
		}
	}
}
