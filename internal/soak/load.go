package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

const (
	keys   = 50
	limit  = 100 // units of a key in each window
	window = time.Second
)

// pass is a request that was admitted: the server has decided it between the two.
type pass struct {
	asked, answered time.Duration // since the start
}

// load is what is asked, and what came of it.
type load struct {
	limiter *core.Limiter
	began   time.Time

	mu      sync.Mutex // guards all below
	passes  [keys][]pass
	asked   int
	failed  int
	most    int           // admitted of a key in a window
	slowest time.Duration // of all answers
	lastErr time.Duration // since the start
	rows    []string      // of the report
}

func newLoad(limiter *core.Limiter) *load { return &load{limiter: limiter, began: time.Now()} }

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
		l.check()
	}
}

func (l *load) ask(key int) {
	asked := time.Since(l.began)
	r, err := l.limiter.Take(context.Background(), fmt.Sprint("k", key))
	answered := time.Since(l.began)
	l.mu.Lock()
	l.asked++
	l.slowest = max(l.slowest, answered-asked)
	if err != nil {
		l.failed++
		l.lastErr = answered
	} else if r.Allowed {
		l.passes[key] = append(l.passes[key], pass{asked, answered})
	}
	l.mu.Unlock()
	time.Sleep(time.Millisecond) // a server has other things to do as well
}

// strike makes a fault happen, and notes what came of it.
func (l *load) strike(server *redistest.Server, f fault) {
	admin := server.Client()
	defer func() { _ = admin.Close() }() // nothing is left to do with it
	l.check()
	before := l.snapshot()
	f.harm(server, admin)
	mended := time.Since(l.began)
	time.Sleep(3 * time.Second)
	if f.forgets {
		l.forget()
	} else {
		l.check()
	}
	after := l.snapshot()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows = append(l.rows, fmt.Sprintf("%s: %d asked, %d failed, back %v after the mend", f.name, after.asked-before.asked, after.failed-before.failed,
		max(0, l.lastErr-mended).Round(time.Millisecond)))
}

type numbers struct{ asked, failed int }

func (l *load) snapshot() numbers {
	l.mu.Lock()
	defer l.mu.Unlock()
	return numbers{l.asked, l.failed}
}

// forget drops what was admitted around the loss of all counts.
func (l *load) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passes = [keys][]pass{}
}

// check looks at every window that begins with a request, and forgets all but the last
// two seconds.
func (l *load) check() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, passes := range l.passes {
		slices.SortFunc(passes, func(a, b pass) int { return cmp.Compare(a.asked, b.asked) })
		for i := range passes {
			l.most = max(l.most, inWindow(passes[i:]))
		}
		old := time.Since(l.began) - 2*window
		l.passes[key] = slices.Clone(slices.DeleteFunc(passes, func(p pass) bool { return p.asked < old }))
	}
}

// inWindow counts those that were surely decided within a window of the first's asking.
// The log holds a unit for a whole window, so the window is a microsecond short of it.
func inWindow(passes []pass) (count int) {
	end := passes[0].asked + window - time.Microsecond
	for _, p := range passes {
		if p.asked > end {
			break
		}
		if p.answered <= end {
			count++
		}
	}
	return count
}

func (l *load) report(first, last usage) {
	for _, row := range l.rows {
		fmt.Println(row)
	}
	took := time.Since(l.began)
	fmt.Printf("%v, %d asked (%.0f a second), %d failed, slowest answer %v\n", took.Round(time.Second), l.asked, float64(l.asked)/took.Seconds(),
		l.failed, l.slowest.Round(time.Millisecond))
	fmt.Printf("admitted of a key in a window: %d at most, limit %d\n", l.most, limit)
	fmt.Printf("when all was warm: %v\nat the end:        %v\n", first, last)
}

func (l *load) verdict(first, last usage) error {
	switch {
	case l.most > limit:
		return fmt.Errorf("%d admitted in a window, at a limit of %d", l.most, limit)
	case l.most < limit*9/10:
		return errors.New("the limit was never reached: give more workers")
	case last.heap > 2*first.heap+8<<20 || last.goroutines > first.goroutines+20 || last.connections > first.connections+20:
		return fmt.Errorf("it grows: %v, then %v", first, last)
	}
	return nil
}
