package redisstore

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

const (
	// denialStripes are the parts of the denial cache, each with a lock of its own.
	denialStripes = 64
	// mostDenials bounds the refusals that a stripe remembers.
	mostDenials = 1024
	// mostMarks bounds the policies of a request that is looked up.
	mostMarks = 8
)

// denials remembers refusals. One is remembered with its policy, key, limit, cost and
// longest wait, until its wait has passed since the call began, and for longest at
// most. Blocks are not kept.
type denials struct {
	longest time.Duration
	hits    atomic.Int64
	stripes [denialStripes]denialStripe
}

type denialStripe struct {
	mu     sync.Mutex // guards both
	known  map[string]denial
	change uint64 // counts what this instance has done to keys
}

type denial struct {
	ask   core.Ask // with its answer
	began time.Time
	until time.Time
}

// marks are the changes that were counted when a request began.
type marks [mostMarks]uint64

var denialSeed = maphash.MakeSeed()

func (d *denials) stripe(name string) *denialStripe {
	return &d.stripes[maphash.String(denialSeed, name)%denialStripes]
}

// refuse answers a request one of whose asks is known to refuse it. The keys are the
// names of states. What is not known is said to be.
func (d *denials) refuse(asks []core.Ask, now time.Time) (m marks, refused bool) {
	for i := range asks {
		s := d.stripe(asks[i].Key)
		s.mu.Lock()
		known, ok := s.known[asks[i].Key]
		m[i] = s.change
		s.mu.Unlock()
		if ok && known.refuses(&asks[i], now) {
			refused = true
			asks[i].Answer = known.answer(now)
		}
	}
	if !refused {
		return m, false
	}
	d.hits.Add(1)
	for i := range asks {
		if asks[i].RetryAfter == 0 {
			asks[i].Answer = core.Answer{Unasked: true}
		}
	}
	return m, true
}

func (k *denial) refuses(a *core.Ask, now time.Time) bool {
	return now.Before(k.until) && a.Terms.Limit == k.ask.Terms.Limit && a.Cost == k.ask.Cost &&
		a.LongestWait == k.ask.LongestWait && !a.Terms.DryRun
}

// answer is the refusal as it stands now: its waits have passed in part.
func (k *denial) answer(now time.Time) core.Answer {
	a, passed := k.ask.Answer, now.Sub(k.began)
	a.RetryAfter -= passed
	a.ResetAfter -= passed
	return a
}

// learn remembers the refusals among the answers to a request that began at began,
// unless this instance has changed a key meanwhile.
func (d *denials) learn(asks []core.Ask, began time.Time, m marks) {
	for i := range asks {
		a := &asks[i]
		if a.RetryAfter > 0 && !a.Blocked && !a.Terms.DryRun {
			d.stripe(a.Key).remember(denial{*a, began, began.Add(min(a.RetryAfter, d.longest))}, m[i])
		}
	}
}

func (s *denialStripe) remember(k denial, mark uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.change != mark {
		return
	}
	if s.known == nil {
		s.known = make(map[string]denial)
	}
	if len(s.known) >= mostDenials {
		s.makeRoom(k.began)
	}
	s.known[k.ask.Key] = k
}

// makeRoom drops what is over, and of the rest the first that comes: it costs a
// call of the server. The stripe's lock must be held.
func (s *denialStripe) makeRoom(now time.Time) {
	for name, known := range s.known {
		if !now.Before(known.until) {
			delete(s.known, name)
		}
	}
	for name := range s.known {
		if len(s.known) < mostDenials {
			return
		}
		delete(s.known, name)
	}
}

// forget drops a key that this instance has changed.
func (d *denials) forget(name string) {
	s := d.stripe(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change++
	delete(s.known, name)
}
