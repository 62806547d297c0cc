package main

import (
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// sample is one figure, taken once in each round.
type sample []float64

func (s sample) median() float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

func (s sample) min() float64 { return slices.Min(s) }
func (s sample) max() float64 { return slices.Max(s) }

// over is the sample divided by another, round by round: what slows the machine
// for a while slows both.
func (s sample) over(other sample) sample {
	ratios := make(sample, len(s))
	for i := range s {
		ratios[i] = s[i] / other[i]
	}
	return ratios
}

// minus is the difference, round by round.
func (s sample) minus(other sample) sample {
	differences := make(sample, len(s))
	for i := range s {
		differences[i] = s[i] - other[i]
	}
	return differences
}

// race gives every contender a turn in each round: A B C, A B C, ... The garbage of
// one is collected before the next one's turn.
func race(rounds, contenders int, turn func(contender int) float64) []sample {
	samples := make([]sample, contenders)
	for range rounds {
		for i := range contenders {
			runtime.GC()
			samples[i] = append(samples[i], turn(i))
		}
	}
	return samples
}

// batch is how many operations run between two readings of the clock.
const batch = 256

// nanoseconds runs op for a time, and gives the time of one.
func nanoseconds(length time.Duration, op func()) float64 {
	for range batch { // warm up
		op()
	}
	ops := 0
	began := time.Now()
	for time.Since(began) < length {
		for range batch {
			op()
		}
		ops += batch
	}
	return float64(time.Since(began).Nanoseconds()) / float64(ops)
}

// throughput runs work in goroutines until the time is up, and gives how many
// operations were done and how long it took. work does some operations for a worker
// and says how many.
func throughput(length time.Duration, workers int, work func(worker int) int) (ops int64, took time.Duration) {
	var done atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for worker := range workers {
		all.Go(func() {
			n := 0
			for time.Since(began) < length {
				n += work(worker)
			}
			done.Add(int64(n))
		})
	}
	all.Wait()
	return done.Load(), time.Since(began)
}

// heap is the bytes of what is reachable.
func heap() float64 {
	runtime.GC()
	runtime.GC() // the first one's finalizers and pools
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}

// collection is the processor time, in milliseconds, that the collector takes for
// one forced full collection.
func collection() float64 {
	before := collectorSeconds()
	runtime.GC()
	return (collectorSeconds() - before) * 1000
}

func collectorSeconds() float64 {
	read := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
	}
	metrics.Read(read)
	return read[0].Value.Float64()
}

// times are how long single operations took.
type times []time.Duration

// quantile is the time that the share q of all did not exceed, in nanoseconds. It
// sorts the times.
func (t times) quantile(q float64) float64 {
	slices.Sort(t)
	return float64(t[min(int(q*float64(len(t))), len(t)-1)])
}
