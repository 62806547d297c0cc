package redisstore

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sony/gobreaker/v2"
)

// ErrAway is wrapped by the error of a decision that was not sent because the
// server has not answered lately. One request at a time finds out whether it is
// back.
var ErrAway = errors.New("ratelimit: redis: the server is away")

const (
	// faultsInARow open the breaker.
	faultsInARow = 5
	// probeAfter is how long it stays open before it lets one call through.
	probeAfter = 250 * time.Millisecond
)

// breaker spares requests the wait for a server that does not answer.
type breaker struct {
	*gobreaker.CircuitBreaker[any]
}

func newBreaker() breaker {
	return breaker{gobreaker.NewCircuitBreaker[any](gobreaker.Settings{
		Name:         "ratelimit",
		Timeout:      probeAfter,
		ReadyToTrip:  func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= faultsInARow },
		IsSuccessful: answered,
		IsExcluded:   noFault,
	})}
}

// run makes calls of the server, unless it is known to be away.
func (b breaker) run(ctx context.Context, calls []*call, make func() error) error {
	var err error // of all calls
	_, fault := b.Execute(func() (any, error) {
		if err = make(); err != nil {
			return nil, err
		}
		return nil, faultOf(ctx, calls)
	})
	if errors.Is(fault, gobreaker.ErrOpenState) || errors.Is(fault, gobreaker.ErrTooManyRequests) {
		return ErrAway
	}
	return err
}

func (b breaker) isOpen() bool { return b.State() != gobreaker.StateClosed }

// faultOf is the first error among the calls.
func faultOf(ctx context.Context, calls []*call) error {
	for _, c := range calls {
		if c.err != nil {
			return explain(ctx, c.err)
		}
	}
	return nil
}

// answered reports that the server is well: it has answered, if only that a key is
// not ours.
func answered(err error) bool {
	return err == nil || redis.HasErrorPrefix(err, "WRONGTYPE")
}

// noFault reports an outcome that says nothing of the server: the caller has left,
// or had less time than the store allows, or the call was never sent.
func noFault(err error) bool {
	return errors.Is(err, ErrBusy) || !errors.Is(err, ErrTimeout) &&
		(errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}
