// Package heartbeat tells how long a machine has kept every goroutine waiting, so
// that a test of a deadline can tell a slow program from a slow machine.
package heartbeat

import (
	"sync"
	"time"
)

// beat is how long a heart sleeps, and the least lateness that it notes.
const beat = time.Millisecond

// Heart is a goroutine that does nothing but wake every millisecond.
type Heart struct {
	over chan struct{}

	mu     sync.Mutex
	missed []span // protected by mu
}

// span is a time in which the heart should have beaten and did not.
type span struct{ due, woke time.Time }

// Start starts a heart. It must be stopped.
func Start() *Heart {
	h := &Heart{over: make(chan struct{})}
	go h.run()
	return h
}

// Stop ends it. What it has noted stays.
func (h *Heart) Stop() { close(h.over) }

func (h *Heart) run() {
	for {
		due := time.Now().Add(beat)
		select {
		case <-h.over:
			return
		case <-time.After(beat):
		}
		if woke := time.Now(); woke.Sub(due) > beat {
			h.mu.Lock()
			h.missed = append(h.missed, span{due, woke})
			h.mu.Unlock()
		}
	}
}

// Missed is how long it did not beat, all together, from a time to another.
func (h *Heart) Missed(from, to time.Time) (sum time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := len(h.missed) - 1; i >= 0 && h.missed[i].woke.After(from); i-- {
		first, last := h.missed[i].due, h.missed[i].woke
		if first.Before(from) {
			first = from
		}
		if last.After(to) {
			last = to
		}
		sum += max(0, last.Sub(first))
	}
	return sum
}

// Worst is the longest time that it did not beat, ever.
func (h *Heart) Worst() (worst time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range h.missed {
		worst = max(worst, m.woke.Sub(m.due))
	}
	return worst
}
