package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/internal/heartbeat"
	"github.com/ratelimit-go/ratelimit/internal/passes"
)

const (
	keys     = 50
	limit    = 100 // units of a key in each window
	window   = time.Second
	deadline = 100 * time.Millisecond
	// grace is what an answer may take beyond the deadline, and beyond twice the time
	// for which the machine stood still: a goroutine is woken twice for it at least.
	grace = 50 * time.Millisecond
)

// load is what is asked, and what came of it.
type load struct {
	limiter *core.Limiter
	heart   *heartbeat.Heart
	waits   waits // for a processor, until the start
	began   time.Time

	mu      sync.Mutex // guards all below
	passes  [keys][]passes.Pass
	asked   int
	failed  int
	lastErr answer
	now     string // the fault that is there
	slow    []answer

	kept    [keys][]passes.Pass // of the last check, by the one goroutine that checks
	most    int                 // admitted of a key in a window
	strikes []strike
}

// answer is one that a caller got, while a fault was there.
type answer struct {
	passes.Pass
	fault string
}

func (a answer) took() time.Duration { return a.Answered.Sub(a.Asked) }

func newLoad(limiter *core.Limiter) *load {
	return &load{limiter: limiter, heart: heartbeat.Start(), waits: waitsUntilNow(), began: time.Now(), now: noFault}
}

// start has goroutines ask until they are stopped.
func (l *load) start(workers int) (stop func()) {
	over := make(chan struct{})
	var done sync.WaitGroup
	for worker := range workers {
		done.Go(func() {
			for i := worker; ; i++ {
				select {
				case <-over:
					return
				default:
					l.ask(i % keys)
				}
			}
		})
	}
	return func() {
		close(over)
		done.Wait()
		l.heart.Stop()
		l.check()
	}
}

func (l *load) ask(key int) {
	asked := time.Now()
	r, err := l.limiter.Take(context.Background(), fmt.Sprint("k", key))
	pass := passes.Pass{Asked: asked, Answered: time.Now()}
	l.note(key, answer{Pass: pass}, err == nil && r.Allowed, err != nil)
	time.Sleep(time.Millisecond) // a server has other things to do as well
}

func (l *load) note(key int, a answer, allowed, failed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a.fault = l.now
	l.asked++
	if a.took() > deadline+grace {
		l.slow = append(l.slow, a)
	}
	if failed {
		l.failed++
		l.lastErr = a
	}
	if allowed {
		l.passes[key] = append(l.passes[key], a.Pass)
	}
}

// check looks at every window that begins with a request, and forgets all but the last
// two seconds.
func (l *load) check() {
	l.mu.Lock()
	news := l.passes
	l.passes = [keys][]passes.Pass{}
	l.mu.Unlock()
	old := time.Now().Add(-2 * window)
	for key := range news {
		all := append(l.kept[key], news[key]...)
		l.most = max(l.most, passes.Most(all, window))
		l.kept[key] = nil
		for _, p := range all {
			if p.Asked.After(old) {
				l.kept[key] = append(l.kept[key], p)
			}
		}
	}
}

// forget drops what was admitted around the loss of all counts.
func (l *load) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passes, l.kept = [keys][]passes.Pass{}, [keys][]passes.Pass{}
}
