package redisstore

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

const (
	// mostTogether is the number of keys from which on no more decisions join a
	// call.
	mostTogether = 128
	// usualFlying is how many calls of a lane are in flight before decisions wait
	// for each other.
	usualFlying = 3
	// mostFlying is how many can be, where the server is slow.
	mostFlying = 16
	// longestHold is how long a decision waits at most for the calls in flight.
	longestHold = 5 * time.Millisecond
)

// lane is the way to one server. A decision that finds it free goes straight out in
// its caller's goroutine. Those that come while calls are in flight wait, and go
// together as soon as one is back, or after longestHold: a slow call holds nobody.
type lane struct {
	store   *Store
	to      server
	breaker breaker

	mu      sync.Mutex
	waiting []*waiter   // protected by mu
	flying  int         // protected by mu
	hurry   *time.Timer // runs while somebody waits
}

func newLane(s *Store, to server) *lane {
	l := &lane{store: s, to: to, breaker: newBreaker()}
	l.hurry = time.AfterFunc(time.Hour, l.sendLate)
	l.hurry.Stop() // until somebody waits
	return l
}

// take decides by the server's clock.
func (l *lane) take(ctx context.Context, v verb, slot uint16, asks []core.Ask) error {
	l.mu.Lock()
	if l.flying < usualFlying && len(l.waiting) == 0 {
		l.flying++
		l.mu.Unlock()
		err := l.store.takeAlone(ctx, v, l, time.Time{}, asks)
		if batch := l.land(); batch != nil {
			go l.fly(batch)
		}
		return err
	}
	if len(l.waiting) >= mostWaiting {
		l.mu.Unlock()
		return ErrBusy
	}
	w := newWaiter(v, slot, asks, l.store.timeout)
	if l.waiting = append(l.waiting, w); len(l.waiting) == 1 {
		l.hurry.Reset(longestHold)
	}
	l.mu.Unlock()
	return l.await(ctx, w, asks)
}

// await waits for the answer, and leaves at the deadline: who was not sent yet is
// then never charged.
func (l *lane) await(ctx context.Context, w *waiter, asks []core.Ask) error {
	var err error
	select {
	case <-w.answered:
		return w.finish(asks)
	case <-ctx.Done():
		err = explain(ctx, ctx.Err())
	case <-w.timer.C:
		err = ErrTimeout
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting, w); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	return err
}

// land ends a call, and gives those that fly in its place: nil for none.
func (l *lane) land() []*waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) > 0 && l.flying <= usualFlying {
		return l.next()
	}
	l.flying--
	return nil
}

// next takes those who go together off the waiting. l.mu must be held.
func (l *lane) next() []*waiter {
	n, keys := 0, 0
	for n < len(l.waiting) && keys < mostTogether {
		keys += len(l.waiting[n].asks)
		n++
	}
	batch := slices.Clone(l.waiting[:n])
	l.waiting = slices.Delete(l.waiting, 0, n)
	return batch
}

// sendLate sends those who have waited long although calls are in flight.
func (l *lane) sendLate() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		return
	}
	left := longestHold - time.Since(l.waiting[0].began)
	if left <= 0 && l.flying < mostFlying {
		l.flying++
		go l.fly(l.next())
		left = longestHold
	}
	l.hurry.Reset(max(left, time.Millisecond))
}

// fly makes calls for those who wait until nobody does.
func (l *lane) fly(batch []*waiter) {
	for batch != nil {
		l.carry(batch)
		batch = l.land()
	}
}

// carry decides a batch in one round trip: in one call of the script, or in one for
// each slot of a cluster. It lasts as long as the last caller waits.
func (l *lane) carry(batch []*waiter) {
	latest := batch[len(batch)-1].began.Add(l.store.timeout)
	ctx, cancel := context.WithDeadlineCause(context.Background(), latest, ErrTimeout)
	defer cancel()
	slots := bySlot(batch)
	calls := make([]*call, len(slots))
	for i, together := range slots {
		calls[i] = l.store.takeCall(together[0].verb, time.Time{}, asksOf(together))
	}
	err := l.store.run(ctx, l, calls)
	for i, together := range slots {
		switch {
		case err != nil:
			answerAll(together, nil, err)
		case calls[i].err != nil:
			answerAll(together, nil, explain(ctx, calls[i].err))
		default:
			answerAll(together, calls[i].reply, nil)
		}
	}
}
