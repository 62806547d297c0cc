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

// New makes a store over a client of go-redis. It does not speak to the server. The
// client stays the caller's to close. With its ContextTimeoutEnabled set, a
// decision saves a goroutine. It panics on a nil client.
func New(client redis.UniversalClient, options ...Option) *Store {
	if isNil(client) {
		panic("ratelimit: redisstore.New(nil): give a client, as from redis.NewClient")
	}
	s := &Store{prefix: defaultPrefix, timeout: defaultTimeout, runner: newRunner(client)}
	for _, option := range options {
		option(s)
	}
	return s
}

// isNil sees a nil *redis.Client in the interface, too.
func isNil(client redis.UniversalClient) bool {
	v := reflect.ValueOf(client)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// Take implements [core.Store]. Beside what the server says, the errors are
// [ErrTimeout], [ErrBusy] and the cause of the caller's context.
func (s *Store) Take(ctx context.Context, now time.Time, asks []core.Ask) error {
	if len(asks) == 0 {
		return nil
	}
	args := s.header("take", now, asks)
	for i := range asks {
		a := &asks[i]
		args = append(args, i+1, min(a.Cost, a.Terms.Capacity+1), max(-1, min(a.LongestWait, maxTime)))
	}
	reply, err := s.run(ctx, s.timeout, args)
	if err != nil {
		return err
	}
	return answers(reply, asks)
}

// Adjust implements [core.Store].
func (s *Store) Adjust(ctx context.Context, now time.Time, asks []core.Ask, actual []int64) error {
	var changed []core.Ask
	var units []int64
	for i, a := range asks {
		if a.Charged > 0 && actual[i] != a.Charged {
			// A debt never passes twice the capacity.
			changed, units = append(changed, a), append(units, min(actual[i], a.Charged+2*a.Terms.Capacity))
		}
	}
	if len(changed) == 0 {
		return nil
	}
	args := s.header("adjust", now, changed)
	for i, a := range changed {
		args = append(args, i+1, a.Charged, units[i], a.ChargedAt, a.Turn)
	}
	return s.act(ctx, args)
}

// Reset implements [core.Store].
func (s *Store) Reset(ctx context.Context, terms *core.Terms, key string) error {
	asks := []core.Ask{{Terms: terms, Key: key}}
	return s.act(ctx, append(s.header("reset", time.Time{}, asks), 1))
}

// Block implements [core.Store].
func (s *Store) Block(ctx context.Context, now time.Time, terms *core.Terms, key string, length time.Duration) error {
	asks := []core.Ask{{Terms: terms, Key: key}}
	return s.act(ctx, append(s.header("block", now, asks), 1, max(0, length.Microseconds())))
}

// act runs a verb that replies nothing but that it was done.
func (s *Store) act(ctx context.Context, args []any) error {
	reply, err := s.run(ctx, s.timeout, args)
	if err != nil {
		return err
	}
	return done(reply)
}

// header is the script's call up to the first ask: see script.lua.
func (s *Store) header(verb string, now time.Time, asks []core.Ask) []any {
	args := make([]any, 0, 7+15*len(asks))
	args = append(args, "evalsha", scriptHash, len(asks))
	for i := range asks {
		args = append(args, s.key(asks[i].Terms, asks[i].Key))
	}
	args = append(args, verb, micros(now), len(asks))
	for i := range asks {
		t := asks[i].Terms
		args = append(args, int(t.Algorithm), t.Count, t.Capacity, t.Tick, t.Period, max(1, t.Intervals), flag(t.Police), flag(t.DryRun))
	}
	return append(args, len(asks))
}

// micros is a time that a test passes in; "" is the server's.
func micros(now time.Time) any {
	if now.IsZero() {
		return ""
	}
	return min(max(now.UnixMicro(), 0), maxTime)
}

func flag(set bool) int {
	if set {
		return 1
	}
	return 0
}
