package main

import (
	"math/rand/v2"
	"sync"
	"time"
)

// callers are enough that hardly one is still busy when its next request is due.
const callers = 256

// offer sends requests at a steady rate for a time, and gives how long each took.
func offer(e engine, rate float64, length time.Duration) (all times) {
	keys := distinct(1000)
	between := time.Duration(callers / rate * float64(time.Second))
	began := time.Now().Add(10 * time.Millisecond)
	var mu sync.Mutex
	var done sync.WaitGroup
	for i := range callers {
		done.Go(func() {
			var own times
			due := began.Add(between * time.Duration(i) / callers)
			for ; due.Sub(began) < length; due = due.Add(between) {
				start := await(due)
				check(e.take(keys[rand.IntN(len(keys))]), "refused under an equal load")
				own = append(own, time.Since(start))
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, own...)
		})
	}
	done.Wait()
	return all
}

// await sleeps until a request is due, and gives the time from which it counts. One
// that is late because the earlier one was slow counts from when it was due; what a
// sleep takes too long is not the limiter's.
func await(due time.Time) time.Time {
	if wait := time.Until(due); wait > 0 {
		time.Sleep(wait)
		return time.Now()
	}
	return due
}
