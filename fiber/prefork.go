package ratelimit

import (
	"log/slog"
	"sync"

	"github.com/gofiber/fiber/v2"

	"github.com/ratelimit-go/ratelimit/core"
)

var preforkWarning sync.Once

// warnPrefork says once in each child that its store in memory is its own.
func warnPrefork(o Options) {
	if _, inMemory := o.Store.(*core.Memory); !fiber.IsChild() || o.Store != nil && !inMemory {
		return
	}
	logger := o.Logger
	if logger == nil {
		logger = slog.Default()
	}
	preforkWarning.Do(func() {
		logger.Warn("ratelimit: with Prefork a store in memory is one budget for each child; give Options.Store one in Redis")
	})
}
