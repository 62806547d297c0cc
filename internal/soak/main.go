// Command soak holds a full load on Redis, harms it every few seconds, and checks that
// no key was admitted more than its limit in any window, and that nothing grows. It
// prints a report, and ends with 1 where something was wrong.
//
//	go run ./internal/soak -for 30m
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

func main() {
	length := flag.Duration("for", 30*time.Minute, "how long")
	every := flag.Duration("every", 20*time.Second, "a fault each")
	workers := flag.Int("workers", 64, "goroutines that ask")
	flag.Parse()
	logging.Disable() // the server is away here on purpose
	if err := soak(*length, *every, *workers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func soak(length, every time.Duration, workers int) error {
	server, err := redistest.Run()
	if err != nil {
		return err
	}
	defer server.Stop()
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer func() { _ = client.Close() }() // nothing is left to do with it
	limiter, err := core.NewLimiter(redisstore.New(client), core.Per(limit, window).SlidingWindowLog().Named("soak").WhenStoreAway(core.Closed))
	if err != nil {
		return err
	}
	l := newLoad(limiter)
	stop := l.start(workers)
	first := usageOf(client)
	for i, end := 0, time.Now().Add(length); time.Now().Before(end); i++ {
		time.Sleep(every / 2)
		l.strike(server, faults[i%len(faults)])
		time.Sleep(every / 2)
		if i == 1 {
			first = usageOf(client) // all is warm
		}
	}
	last := usageOf(client)
	stop()
	l.report(first, last)
	return l.verdict(first, last)
}

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

func (u usage) String() string {
	return fmt.Sprintf("heap %d KiB, %d goroutines, %d connections", u.heap>>10, u.goroutines, u.connections)
}
