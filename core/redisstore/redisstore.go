// Package redisstore keeps the state of policies in Redis, so that all instances of
// a service share one budget. It works with every server that runs Lua scripts:
// Redis 6.2 and newer, Valkey and their relatives.
//
// A decision is one round trip to one script, whatever the number of policies, by
// the server's clock, and is executed at most once. Where no answer comes in time
// it is an error: it is then not known whether the server has charged the request.
package redisstore

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
)

const (
	defaultPrefix  = "ratelimit"
	defaultTimeout = 100 * time.Millisecond

	// Times stay below the year 2200 and costs little above the capacity, as in
	// memory, so that all numbers are exact in the script.
	maxTime = int64(7_258_118_400_000_000)
)

// Store is a [core.Store] in Redis. It is safe for concurrent use.
type Store struct {
	prefix  string
	tag     string
	timeout time.Duration
	runner
	denials denials
	leases  leases

	spread bool     // over several servers
	home   *lane    // to the client itself
	lanes  sync.Map // *redis.Client -> *lane: to each of several servers
}

var _ core.Store = (*Store)(nil)

// Option is an option of [New].
type Option func(*Store)

// Prefix is what the names of all keys begin with, to keep services apart that
// share a server. The default is "ratelimit". It panics unless the prefix is
// printable ASCII without spaces and braces.
func Prefix(prefix string) Option {
	mustBePlain("prefix", prefix)
	return func(s *Store) { s.prefix = prefix }
}

// HashTag puts one hash tag on all keys, so that on a cluster they share one slot
// and policies of different keys are decided together. Without it, only those with
// equal keys share one. It panics unless the tag is printable ASCII without spaces
// and braces.
func HashTag(tag string) Option {
	mustBePlain("hash tag", tag)
	return func(s *Store) { s.tag = tag }
}

// Timeout is the longest that a decision may take, whatever the number of its
// policies. The default is 100 ms. It panics unless the time is above 0.
func Timeout(longest time.Duration) Option {
	if longest <= 0 {
		panic(fmt.Sprintf("ratelimit: redis timeout %v: give a time above 0", longest))
	}
	return func(s *Store) { s.timeout = longest }
}

// RememberRefusals is how long a refusal is remembered here at most, so that a client
// that hammers a closed limit costs the server one call in that time. What another
// instance resets, refunds or raises shows after it; what this one does shows at
// once. The policies that such a refusal does not ask are reported as Unasked. The
// default is a second; 0 switches it off. It panics below 0.
func RememberRefusals(longest time.Duration) Option {
	if longest < 0 {
		panic(fmt.Sprintf("ratelimit: redis RememberRefusals %v: give a time, or 0 for none", longest))
	}
	return func(s *Store) { s.denials.longest = longest }
}

// New makes a store over a client of go-redis. It does not speak to the server. The
// client stays the caller's to close. With its ContextTimeoutEnabled set, a
// decision saves a goroutine. It panics on a nil client.
func New(client redis.UniversalClient, options ...Option) *Store {
	if isNil(client) {
		panic("ratelimit: redisstore.New(nil): give a client, as from redis.NewClient")
	}
	s := &Store{prefix: defaultPrefix, timeout: defaultTimeout, runner: newRunner(client)}
	s.denials.longest = time.Second
	for _, option := range options {
		option(s)
	}
	switch client.(type) {
	case *redis.ClusterClient, *redis.Ring:
		s.spread = true
	}
	s.home = newLane(s, client)
	s.leases.server = s
	return s
}

// Close gives back what is on lease. The client stays the caller's to close.
func (s *Store) Close() error {
	s.leases.giveBack(time.Time{})
	return nil
}

// DenialHits is the number of requests that were refused from memory, without a
// call of the server: see [RememberRefusals].
func (s *Store) DenialHits() int64 { return s.denials.hits.Load() }

// BreakerOpen reports whether requests are kept from a server, or from one of
// several, because it has not answered lately.
func (s *Store) BreakerOpen() bool {
	open := s.home.breaker.isOpen()
	s.lanes.Range(func(_, known any) bool {
		open = open || known.(*lane).breaker.isOpen()
		return !open
	})
	return open
}

// isNil sees a nil *redis.Client in the interface, too.
func isNil(client redis.UniversalClient) bool {
	v := reflect.ValueOf(client)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// Take implements [core.Store]. Beside what the server says, the errors are
// [ErrTimeout], [ErrBusy], [ErrAway] and the cause of the caller's context.
func (s *Store) Take(ctx context.Context, now time.Time, asks []core.Ask) error {
	var one [1]core.Ask
	named := append(one[:0], asks...)
	for i := range named {
		named[i].Key = s.key(named[i].Terms, named[i].Key)
	}
	if err := s.takeShort(ctx, now, named); err != nil {
		return err
	}
	for i := range asks {
		asks[i].Answer = named[i].Answer
	}
	return nil
}

// takeShort spares the server what is known here: refusals, and units on lease. Where
// a test passes the time in, nothing is.
func (s *Store) takeShort(ctx context.Context, now time.Time, asks []core.Ask) error {
	if !now.IsZero() || len(asks) == 0 || len(asks) > mostMarks {
		return s.takeNamed(ctx, now, asks)
	}
	if s.denials.longest == 0 {
		return s.takeLeased(ctx, asks)
	}
	began := time.Now()
	marks, refused := s.denials.refuse(asks, began)
	if refused {
		return nil
	}
	err := s.takeLeased(ctx, asks)
	if err == nil {
		s.denials.learn(asks, began, marks)
	}
	return err
}

func (s *Store) takeLeased(ctx context.Context, asks []core.Ask) error {
	if a := &asks[0]; len(asks) == 1 && a.Terms.Lease > 0 && a.Cost > 0 {
		return s.leases.take(ctx, a)
	}
	return s.takeNamed(ctx, time.Time{}, asks)
}

// changed is called when this instance has changed a key otherwise than by a request.
func (s *Store) changed(name string) {
	s.denials.forget(name)
	s.leases.forget(name)
}

// takeNamed is Take where an ask's key is the name of its state.
func (s *Store) takeNamed(ctx context.Context, now time.Time, asks []core.Ask) error {
	if len(asks) == 0 {
		return nil
	}
	if !s.spread {
		return s.takeTogether(ctx, take, now, place{lane: s.home}, asks)
	}
	groups, err := s.groupsOf(ctx, asks)
	if err != nil {
		return err
	}
	if len(groups) == 1 {
		return s.takeTogether(ctx, take, now, groups[0].place, asks)
	}
	return s.takeApart(ctx, now, asks, groups)
}

// takeTogether decides what lives in one place.
func (s *Store) takeTogether(ctx context.Context, v verb, now time.Time, at place, asks []core.Ask) error {
	if ctx.Err() != nil {
		return explain(ctx, ctx.Err())
	}
	if now.IsZero() {
		return at.lane.take(ctx, v, at.slot, asks)
	}
	return s.takeAlone(ctx, v, at.lane, now, asks)
}

// takeAlone decides in a call of its own.
func (s *Store) takeAlone(ctx context.Context, v verb, on *lane, now time.Time, asks []core.Ask) error {
	answers, err := s.runOne(ctx, s.timeout, on, s.takeCall(v, now, [][]core.Ask{asks}))
	if err != nil {
		return err
	}
	rest, err := readAnswers(answers, asks)
	if err == nil && len(rest) > 0 {
		err = errReply
	}
	return err
}

// Adjust implements [core.Store].
func (s *Store) Adjust(ctx context.Context, now time.Time, asks []core.Ask, actual []int64) error {
	var changed []core.Ask
	var units []int64
	for i, a := range asks {
		if a.Charged > 0 && actual[i] != a.Charged {
			a.Key = s.key(a.Terms, a.Key)
			changed, units = append(changed, a), append(units, actual[i])
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return s.adjustNamed(ctx, now, changed, units)
}

// adjustNamed is Adjust where an ask's key is the name of its state.
func (s *Store) adjustNamed(ctx context.Context, now time.Time, changed []core.Ask, units []int64) error {
	for _, a := range changed {
		defer s.denials.forget(a.Key)
	}
	groups, err := s.groupsOf(ctx, changed)
	if err != nil {
		return err
	}
	each(groups, func(g *group) error {
		own := make([]int64, len(g.asks))
		for i, at := range g.index {
			own[i] = units[at]
		}
		return s.adjustTogether(ctx, now, g.place, g.asks, own)
	})
	return errOf(groups)
}

func (s *Store) adjustTogether(ctx context.Context, now time.Time, at place, asks []core.Ask, actual []int64) error {
	return s.act(ctx, at.lane, len(asks), actCall(adjust, now, asks, func(i int) [4]int64 {
		a := &asks[i]
		// A debt never passes twice the capacity.
		return [4]int64{a.Charged, min(actual[i], a.Charged+2*a.Terms.Capacity), a.ChargedAt, a.Turn}
	}))
}

// Reset implements [core.Store].
func (s *Store) Reset(ctx context.Context, terms *core.Terms, key string) error {
	return s.actOn(ctx, reset, time.Time{}, terms, key, 0)
}

// Block implements [core.Store].
func (s *Store) Block(ctx context.Context, now time.Time, terms *core.Terms, key string, length time.Duration) error {
	return s.actOn(ctx, block, now, terms, key, max(0, length.Microseconds()))
}

// actOn acts on one key, with one number.
func (s *Store) actOn(ctx context.Context, v verb, now time.Time, terms *core.Terms, key string, number int64) error {
	asks := []core.Ask{{Terms: terms, Key: s.key(terms, key)}}
	defer s.changed(asks[0].Key)
	return s.act(ctx, s.home, 1, actCall(v, now, asks, func(int) [4]int64 { return [4]int64{number} }))
}

// act makes a call that replies nothing but that it was done for a number of asks.
func (s *Store) act(ctx context.Context, on *lane, asks int, c *call) error {
	answers, err := s.runOne(ctx, s.timeout, on, c)
	if err != nil {
		return err
	}
	return done(answers, asks)
}
