package main

import (
	"math"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/redis/go-redis/v9"
)

// usage is what the process holds.
type usage struct {
	heap        uint64 // bytes
	goroutines  int
	connections uint32
}

func usageOf(client *redis.Client) usage {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{m.HeapAlloc, runtime.NumGoroutine(), client.PoolStats().TotalConns}
}

func (u usage) grownFrom(warm usage) bool {
	return u.heap > 2*warm.heap+8<<20 || u.goroutines > warm.goroutines+20 || u.connections > warm.connections+20
}

// waits are how often goroutines have waited for a processor, by how long.
type waits []uint64

const waitsName = "/sched/latencies:seconds"

func readWaits() *metrics.Float64Histogram {
	sample := []metrics.Sample{{Name: waitsName}}
	metrics.Read(sample)
	return sample[0].Value.Float64Histogram()
}

func waitsUntilNow() waits { return readWaits().Counts }

// longest is the longest wait since then, but for a share of all.
func (before waits) longest(share float64) time.Duration {
	now := readWaits()
	total, above := uint64(0), uint64(0)
	for i, n := range now.Counts {
		total += n - before[i]
	}
	for i := len(now.Counts) - 1; i >= 0; i-- {
		above += now.Counts[i] - before[i]
		if float64(above) > share*float64(total) {
			return time.Duration(math.Min(now.Buckets[i+1], 3600) * float64(time.Second))
		}
	}
	return 0
}
