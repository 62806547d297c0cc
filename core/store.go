package core

import (
	"context"
	"errors"
	"time"
)

// ErrClosed is returned by a store that has been closed.
var ErrClosed = errors.New("ratelimit: store is closed")

// Store keeps the state of policies and decides over it. [NewMemory] and package
// redisstore make the two that come with the project; package storetest holds the
// suite that every implementation must pass.
//
// A store decides exactly as [Memory] does, at one reading of one clock for each
// call: its own, or now where it is not zero (tests pass it). A state is known by
// its Terms.ID and its key, any bytes of any length. It leaves by itself once its
// reset time has passed. Keys may be secrets: do not log them. All methods may be
// called by many goroutines at once, and must not keep the slices they are given. No
// two asks of one call may be of the same state.
type Store interface {
	// Take decides one request: it evaluates every ask, charges all of them or
	// none, and fills in each ask's Answer. An enforcing ask that is refused
	// refuses the request; one with Terms.DryRun refuses nobody, and is charged
	// when the request is admitted and it would have admitted it. An error means
	// that nothing is known of the request; it must have been executed at most
	// once.
	Take(ctx context.Context, now time.Time, asks []Ask) error
	// Adjust brings asks that Take has charged to what they actually cost:
	// actual[i] is the units that asks[i] should have been charged, and Answer
	// tells what it was. Less gives the difference back, more charges it as debt.
	// Asks that were not charged are left alone.
	Adjust(ctx context.Context, now time.Time, asks []Ask, actual []int64) error
	// Reset forgets the key and lifts its block.
	Reset(ctx context.Context, terms *Terms, key string) error
	// Block refuses the key for a time, whatever its state. A later block replaces
	// it; 0 lifts it.
	Block(ctx context.Context, now time.Time, terms *Terms, key string, length time.Duration) error
}

// Ask is one policy's part of a request: what is asked of a store, and its answer.
type Ask struct {
	// Terms are the policy's limit, made ready.
	Terms *Terms
	// Key is whom the request is counted against.
	Key string
	// Cost is the units asked for. 0 is a peek: it charges nothing.
	Cost int64
	// LongestWait is the longest delay of a leaky bucket that the request accepts,
	// in microseconds; negative: any. Stores round it down to ticks.
	LongestWait int64

	Answer
}

// Answer is a store's answer to an [Ask].
type Answer struct {
	// Allowed is the policy's own decision.
	Allowed bool
	// Never is set with a refusal that no wait can mend.
	Never bool
	// Blocked is set with a refusal of a key that is blocked (see [Limiter.Block]).
	Blocked bool
	// Unasked is set where nothing is known of this policy: another one was known to
	// refuse the request, and the store was spared. All else is zero then.
	Unasked bool
	// Remaining is the whole units that could be admitted at once now.
	Remaining int64
	// RetryAfter is the wait after which the same request would be admitted if
	// nothing else came, one tick less would not. 0 when allowed or never.
	RetryAfter time.Duration
	// ResetAfter is the time until the key is as if never seen.
	ResetAfter time.Duration
	// Delay is how long an admitted request waits for its turn.
	Delay time.Duration
	// Charged is the units that were charged: the cost, or 0.
	Charged int64
	// ChargedAt is the time of the charge, in microseconds since the Unix epoch,
	// by which a refund finds what it gives back.
	ChargedAt int64
	// Turn identifies a charge of a shaping queue, of which only the last can be
	// given back.
	Turn int64
}
