package redisstore

import (
	"context"
	"sync"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

const (
	// mostLeases bounds the keys on lease. Others are asked for one by one.
	mostLeases = 10_000
	// leaseIdle is how long units stay on lease that nobody uses.
	leaseIdle = time.Second
)

// leases hands out units that were taken ahead, for policies with a Lease: one call of
// the server for many decisions.
type leases struct {
	server *Store

	mu    sync.Mutex // guards all below, and the leases; not held while the server is asked
	held  map[string]*lease
	timer *time.Timer // gives back what is idle, while there are leases
}

// lease is what is left of the units that were taken ahead for one key.
type lease struct {
	grant    core.Ask // the last charge, with its answer
	left     int64
	began    time.Time // when the call of the grant began
	until    time.Time // the end of a fixed window; zero: none
	used     time.Time // last
	change   int       // counts resets and blocks, which end what is under way
	fetching *fetch    // nil: none is under way
	unkept   bool      // there was no room for it: it lasts for one ask
}

// fetch is a call for more units. Its outcome may be read once done is closed.
type fetch struct {
	done chan struct{}
	ask  core.Ask // as it was answered
	err  error
}

// take decides an ask from its lease, and takes more units ahead where it has too few.
// Of those who find too few one asks the server, and the others wait for it.
func (l *leases) take(ctx context.Context, a *core.Ask) error {
	ctx, cancel := context.WithTimeoutCause(ctx, l.server.timeout, ErrTimeout)
	defer cancel()
	for {
		held, other := l.handOut(a)
		switch {
		case held != nil:
			return l.fetch(ctx, held, a)
		case other == nil:
			return nil
		}
		select {
		case <-other.done:
		case <-ctx.Done():
			return explain(ctx, ctx.Err())
		}
		if err, same := other.settles(a); same {
			return err
		}
	}
}

// settles gives a waiting ask the outcome of another one's call, where it would meet
// the same: a refusal, or a server that does not answer.
func (f *fetch) settles(a *core.Ask) (err error, same bool) {
	switch {
	case f.err != nil:
		return f.err, !noFault(f.err)
	case f.ask.Allowed || f.ask.Cost != a.Cost || f.ask.Terms.Limit != a.Terms.Limit:
		return nil, false
	}
	a.Answer = f.ask.Answer
	return nil, true
}

// handOut answers an ask from its lease. Else it gives the lease for which the caller
// is to ask the server, or the call of another to wait for.
func (l *leases) handOut(a *core.Ask) (held *lease, other *fetch) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	held = l.held[a.Key]
	if held == nil {
		held = &lease{unkept: len(l.held) >= mostLeases}
		l.keep(a.Key, held)
	}
	held.used = now
	if !held.until.IsZero() && !now.Before(held.until) {
		held.left = 0 // its window is over
	}
	switch {
	case held.left >= a.Cost && held.grant.Terms.Limit == a.Terms.Limit:
		held.left -= a.Cost
		a.Answer = held.answer(a.Cost, now)
		return nil, nil
	case held.fetching != nil:
		return nil, held.fetching
	}
	held.fetching = &fetch{done: make(chan struct{})}
	return held, nil
}

// answer is that to units which are handed out. The leases' lock must be held.
func (h *lease) answer(cost int64, now time.Time) core.Answer {
	return core.Answer{
		Allowed:    true,
		Remaining:  h.grant.Remaining + h.left,
		ResetAfter: max(0, h.grant.ResetAfter-now.Sub(h.began)),
		Charged:    cost,
		ChargedAt:  h.grant.ChargedAt,
	}
}

// fetch asks the server for a lease, and where it has no such number left, for the ask
// alone.
func (l *leases) fetch(ctx context.Context, held *lease, a *core.Ask) error {
	l.mu.Lock()
	change := held.change
	l.mu.Unlock()
	began := time.Now()
	ahead := []core.Ask{*a}
	if !held.unkept {
		ahead[0].Cost = max(a.Cost, a.Terms.Lease)
	}
	err := l.server.takeNamed(ctx, time.Time{}, ahead)
	if err == nil && !ahead[0].Allowed && ahead[0].Cost > a.Cost {
		ahead[0] = *a
		err = l.server.takeNamed(ctx, time.Time{}, ahead)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	outcome := held.fetching
	held.fetching = nil
	outcome.ask, outcome.err = ahead[0], err
	close(outcome.done)
	if err != nil {
		return err
	}
	a.Answer = ahead[0].Answer
	if !a.Allowed {
		return nil
	}
	a.Charged = a.Cost
	if held.change == change { // else the key was reset or blocked meanwhile: this ask alone passes
		held.accept(ahead[0], began, a.Cost)
		a.Answer = held.answer(a.Cost, began)
	}
	return nil
}

// accept adds what the server has granted, less what is used at once. The leases' lock
// must be held.
func (h *lease) accept(grant core.Ask, began time.Time, used int64) {
	if grant.Terms.Algorithm == core.FixedWindow {
		// What is left from before may be of an older window. The server decided no
		// earlier than the call began, so this is not after the window's end.
		if h.grant.ChargedAt/grant.Terms.Tick/grant.Terms.Period != grant.ChargedAt/grant.Terms.Tick/grant.Terms.Period {
			h.left = 0
		}
		h.until = began.Add(grant.ResetAfter)
	}
	h.grant, h.began = grant, began
	h.left += grant.Charged - used
}

// keep remembers a lease, where there is room. l.mu must be held.
func (l *leases) keep(name string, held *lease) {
	if held.unkept {
		return
	}
	if l.held == nil {
		l.held = make(map[string]*lease)
	}
	l.held[name] = held
	if l.timer == nil {
		l.timer = time.AfterFunc(leaseIdle, func() { l.giveBack(time.Now().Add(-leaseIdle)) })
	}
}

// forget drops a lease without giving back: its key was reset or blocked here.
func (l *leases) forget(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if held := l.held[name]; held != nil {
		held.left, held.change = 0, held.change+1
	}
}

// giveBack refunds what nobody has used since a time; the zero time is all.
func (l *leases) giveBack(since time.Time) {
	l.mu.Lock()
	var idle []core.Ask
	for name, held := range l.held {
		if held.fetching != nil || !since.IsZero() && held.used.After(since) {
			continue
		}
		delete(l.held, name)
		if held.left > 0 {
			held.grant.Charged = held.left
			idle = append(idle, held.grant)
			held.left = 0
		}
	}
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	if len(l.held) > 0 {
		l.timer = time.AfterFunc(leaseIdle, func() { l.giveBack(time.Now().Add(-leaseIdle)) })
	}
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for i := range idle {
		// At worst they count until they have drained, or their window is over.
		_ = l.server.adjustNamed(ctx, time.Time{}, idle[i:i+1], []int64{0})
	}
}
