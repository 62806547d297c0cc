// Command soak holds a full load on Redis, harms it every few seconds, and checks that
// no key was admitted more than its limit in any window, that every answer came in
// time, and that nothing grows. It prints a report in Markdown, and ends with 1 where
// something was wrong.
//
//	go run ./internal/soak -for 30m
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

func main() {
	length := flag.Duration("for", 30*time.Minute, "how long")
	every := flag.Duration("every", 20*time.Second, "from one fault to the next, without what each lasts")
	workers := flag.Int("workers", 512, "goroutines that ask")
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
	policy := core.Per(limit, window).SlidingWindowLog().Named("soak").WhenStoreAway(core.Closed)
	store := redisstore.New(client, redisstore.Timeout(deadline), redisstore.RememberRefusals(0)) // the server is asked for all
	limiter, err := core.NewLimiter(store, policy)
	if err != nil {
		return err
	}
	l := newLoad(limiter)
	stop := l.start(workers)
	var warm usage
	for i, end := 0, time.Now().Add(length); time.Now().Before(end); i++ {
		l.strike(server, faults[i%len(faults)], every)
		if i <= 1 {
			warm = usageOf(client)
		}
	}
	last := usageOf(client)
	stop()
	l.report(workers, warm, last)
	return l.verdict(warm, last)
}
