package redisstore

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// waiter is a decision that waits for its turn and then for its answer. It has asks of
// its own, since its caller can leave first.
type waiter struct {
	asks     []core.Ask
	verb     verb
	slot     uint16
	began    time.Time
	err      error
	answered chan struct{} // has one when asks and err are the answer
	timer    *time.Timer   // its deadline
	one      [1]core.Ask
}

// waiters are those that nobody knows any more.
var waiters = sync.Pool{New: func() any {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	return &waiter{answered: make(chan struct{}, 1), timer: timer}
}}

func newWaiter(v verb, slot uint16, asks []core.Ask, timeout time.Duration) *waiter {
	w := waiters.Get().(*waiter)
	w.asks, w.verb, w.slot, w.began = append(w.one[:0], asks...), v, slot, time.Now()
	w.timer.Reset(timeout)
	return w
}

// finish hands the answer to the caller.
func (w *waiter) finish(asks []core.Ask) error {
	err := w.err
	if err == nil {
		for i := range asks {
			asks[i].Answer = w.asks[i].Answer
		}
	}
	w.timer.Stop()
	w.asks, w.err, w.one = nil, nil, [1]core.Ask{}
	waiters.Put(w)
	return err
}

// answerAll answers those who went together, from the reply or with an error.
func answerAll(batch []*waiter, r reply, err error) {
	for _, w := range batch {
		if w.err = err; err == nil {
			if r, w.err = readAnswers(r, w.asks); r == nil {
				err = w.err // what follows cannot be read either
			}
		}
		w.answered <- struct{}{}
	}
}

// bySlot splits a batch by what goes in one call of the script.
func bySlot(batch []*waiter) [][]*waiter {
	slices.SortStableFunc(batch, func(a, b *waiter) int {
		return cmp.Or(cmp.Compare(a.slot, b.slot), cmp.Compare(a.verb, b.verb))
	})
	var slots [][]*waiter
	for len(batch) > 0 {
		n := 1
		for n < len(batch) && batch[n].slot == batch[0].slot && batch[n].verb == batch[0].verb {
			n++
		}
		slots, batch = append(slots, batch[:n]), batch[n:]
	}
	return slots
}

func asksOf(batch []*waiter) [][]core.Ask {
	all := make([][]core.Ask, len(batch))
	for i, w := range batch {
		all[i] = w.asks
	}
	return all
}
