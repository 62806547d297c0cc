package redisstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
)

// slowServer answers a call only once it is released, and admits everything.
type slowServer struct {
	server
	arrived chan *redis.StringCmd
	release chan struct{}
}

func (s slowServer) Process(_ context.Context, cmd redis.Cmder) error {
	call := cmd.(atMostOnce).StringCmd
	s.arrived <- call
	<-s.release
	var answers reply
	for range call.Args()[2].(int) {
		answers = appendNumbers(answers, charged, 1, 0, 1, 1, 0)
	}
	call.SetVal(string(answers))
	return nil
}

// slowLane is a lane to a slow server, and asks for it.
func slowLane(t *testing.T) (*lane, slowServer, func() []core.Ask) {
	client := redis.NewClient(&redis.Options{ContextTimeoutEnabled: true})
	t.Cleanup(func() { client.Close() })
	s := New(client, Timeout(10*time.Second))
	to := slowServer{arrived: make(chan *redis.StringCmd, 100), release: make(chan struct{})}
	terms, err := core.PerMinute(5).Terms(core.PerMinute(5).Limit)
	if err != nil {
		t.Fatal(err)
	}
	return newLane(s, to), to, func() []core.Ask { return []core.Ask{{Terms: terms, Key: "k", Cost: 1, LongestWait: -1}} }
}

func (l *lane) waits() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting)
}

func TestThoseWhoWaitGoTogetherAndASlowCallHoldsNobody(t *testing.T) {
	l, to, asks := slowLane(t)
	answered := make(chan error, 100)
	ask := func() { answered <- l.take(context.Background(), take, 0, asks()) }
	for range usualFlying {
		go ask()
		if keys := (<-to.arrived).Args()[2]; keys != 1 {
			t.Errorf("%d keys in the call of a lone caller", keys)
		}
	}
	l.mu.Lock() // all of them are there before the next call goes
	for range 50 {
		w := newWaiter(take, 0, asks(), time.Minute)
		l.waiting = append(l.waiting, w)
		go func() { answered <- l.await(context.Background(), w, asks()) }()
	}
	l.hurry.Reset(longestHold)
	l.mu.Unlock()
	if keys := (<-to.arrived).Args()[2]; keys != 50 {
		t.Errorf("%d keys in the call of 50 who have waited", keys)
	}
	close(to.release)
	for range usualFlying + 50 {
		if err := <-answered; err != nil {
			t.Error(err)
		}
	}
}

func TestWhoLeavesBeforeItIsSentIsNeverSent(t *testing.T) {
	l, _, asks := slowLane(t)
	l.flying = mostFlying // none is back
	ctx, leave := context.WithCancel(context.Background())
	answered := make(chan error)
	go func() { answered <- l.take(ctx, take, 0, asks()) }()
	for l.waits() == 0 {
		time.Sleep(time.Millisecond)
	}
	leave()
	if err := <-answered; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if n := l.waits(); n != 0 {
		t.Errorf("%d still wait", n)
	}
}

func TestTooManyAreTurnedAway(t *testing.T) {
	l, _, asks := slowLane(t)
	l.flying = mostFlying
	l.waiting = make([]*waiter, mostWaiting)
	if err := l.take(context.Background(), take, 0, asks()); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	l.waiting = nil
}

func TestABatchIsSplitBySlotAndVerb(t *testing.T) {
	batch := []*waiter{{slot: 2}, {slot: 1, verb: weigh}, {slot: 2}, {slot: 1, verb: take}}
	slots := bySlot(batch)
	if len(slots) != 3 || len(slots[0]) != 1 || len(slots[1]) != 1 || len(slots[2]) != 2 {
		t.Errorf("%d calls", len(slots))
	}
}

// Decisions that differ in their keys only are one run.
func TestWhatACallSays(t *testing.T) {
	s := New(redis.NewClient(&redis.Options{}))
	p, q := core.PerMinute(5).FixedWindow(), core.PerSecond(7).TokenBucket(9)
	first, _ := p.Terms(p.Limit)
	second, _ := q.Terms(q.Limit)
	one := func(terms *core.Terms, key string, cost int64) core.Ask {
		return core.Ask{Terms: terms, Key: key, Cost: cost, LongestWait: -1}
	}
	c := s.takeCall(take, time.Time{}, [][]core.Ask{
		{one(first, "a", 1)}, {one(first, "b", 1)}, {one(first, "c", 3)}, {one(first, "d", 1), one(second, "e", 100)},
	})
	if got := fmt.Sprint(c.args[:len(c.args)-1]); got != "[evalsha "+scriptHash+" 5 a b c d e]" {
		t.Errorf("keys: %s", got)
	}
	var numbers []int64
	for text := reply(c.args[len(c.args)-1].([]byte)); len(text) > 0; text = text[8:] {
		numbers = append(numbers, text.number(0)) // -1 is read as one that is none
	}
	if want := []int64{1, -1,
		2, 1, 1, 5, 5, 1, 60_000_000, 1, 0, 0, 1, -1, 0, 0,
		1, 1, 1, 5, 5, 1, 60_000_000, 1, 0, 0, 3, -1, 0, 0,
		1, 2, 1, 5, 5, 1, 60_000_000, 1, 0, 0, 1, -1, 0, 0, 3, 7, 9, 1, 1_000_000, 1, 0, 0, 10, -1, 0, 0,
	}; !slices.Equal(numbers, want) {
		t.Errorf("got  %v\nwant %v", numbers, want)
	}
}
