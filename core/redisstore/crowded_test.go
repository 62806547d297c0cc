package redisstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/storetest"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

// crowded is a store whose every decision goes in a call between others, of one
// policy and of several, as under load.
type crowded struct {
	*Store
	others []*core.Terms
}

func (c *crowded) Take(ctx context.Context, now time.Time, asks []core.Ask) error {
	named := append([]core.Ask(nil), asks...)
	for i := range named {
		named[i].Key = c.key(named[i].Terms, named[i].Key)
	}
	decisions := [][]core.Ask{c.other(), c.other(), named, c.other()}
	if rand.IntN(2) == 0 {
		decisions = decisions[1:]
	}
	answers, err := c.runOne(ctx, c.timeout, c.home, c.takeCall(take, now, decisions))
	if err != nil {
		return err
	}
	for _, asks := range decisions {
		if answers, err = readAnswers(answers, asks); err != nil {
			return err
		}
	}
	for i := range asks {
		asks[i].Answer = named[i].Answer
	}
	return nil
}

// other is a decision of one to three policies, sometimes refused, about a key of
// its own.
func (c *crowded) other() (asks []core.Ask) {
	for i := range 1 + rand.IntN(3) {
		t := c.others[rand.IntN(len(c.others))]
		key := c.key(t, fmt.Sprint("other", i, rand.IntN(3)))
		asks = append(asks, core.Ask{Terms: t, Key: key, Cost: rand.Int64N(4), LongestWait: -1})
	}
	return asks
}

func TestADecisionIsTheSameInACrowd(t *testing.T) {
	server := redistest.Start(t)
	var others []*core.Terms
	for _, p := range []core.Policy{
		core.PerMinute(5).FixedWindow(), core.PerMinute(5).SlidingWindowLog(), core.PerMinute(5).SlidingWindowCounter(3),
		core.PerMinute(5).TokenBucket(7), core.PerMinute(5).LeakyBucket(7), core.PerMinute(5).AsDryRun(),
	} {
		terms, err := p.Named("other").Terms(p.Limit)
		if err != nil {
			t.Fatal(err)
		}
		others = append(others, terms)
	}
	runs := 0
	storetest.Run(t, func(t testing.TB) core.Store {
		client := server.Client()
		t.Cleanup(func() { client.Close() })
		runs++
		return &crowded{New(client, Prefix(fmt.Sprint("crowd", runs)), Timeout(10*time.Second)), others}
	})
}
