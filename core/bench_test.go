package core_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// benchmarked are the five algorithms at limits that admit nearly everything.
func benchmarked() map[string]core.Policy {
	p := core.Per(1_000_000, time.Second)
	return map[string]core.Policy{
		"fixed":   p.FixedWindow(),
		"counter": p,
		"log":     core.Per(1000, time.Minute).SlidingWindowLog(),
		"token":   p.TokenBucket(1_000_000),
		"leaky":   p.LeakyBucket(1_000_000),
	}
}

func BenchmarkOneKey(b *testing.B) {
	for name, p := range benchmarked() {
		b.Run(name, func(b *testing.B) {
			limiter := benchLimiter(b, p)
			b.ReportAllocs()
			for b.Loop() {
				limiter.Take(context.Background(), "198.51.100.7")
			}
		})
	}
}

func BenchmarkKeysParallel(b *testing.B) {
	keys := make([]string, 100_000)
	for i := range keys {
		keys[i] = "client-" + strconv.Itoa(i)
	}
	for name, p := range benchmarked() {
		b.Run(name, func(b *testing.B) {
			limiter := benchLimiter(b, p)
			var worker atomic.Int64
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				i := int(worker.Add(1)) * 7919
				for pb.Next() {
					i += 7919
					limiter.Take(context.Background(), keys[i%len(keys)])
				}
			})
		})
	}
}

func BenchmarkComposite(b *testing.B) {
	p := core.Per(1_000_000, time.Second)
	limiter := benchLimiter(b, p.TokenBucket(1_000_000).Named("a"), p.TokenBucket(1_000_000).Named("b"), p.TokenBucket(1_000_000).Named("c"))
	b.ReportAllocs()
	for b.Loop() {
		limiter.Take(context.Background(), "198.51.100.7", "alice", "GET /pay")
	}
}

func benchLimiter(b *testing.B, policies ...core.Policy) *core.Limiter {
	memory := core.NewMemory()
	b.Cleanup(func() { memory.Close() })
	limiter, err := core.NewLimiter(memory, policies...)
	if err != nil {
		b.Fatal(err)
	}
	return limiter
}
