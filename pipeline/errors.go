package pipeline

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/headers"
)

// What an [Error] is about, for [errors.Is]. Beside these it wraps
// [core.ErrNoKey], [core.ErrStoreAway] or what the store or a function returned.
var (
	// ErrKey is an error of a key function: 500.
	ErrKey = errors.New("key")
	// ErrLimit is an error of a function that chooses limits, or a limit of it
	// that is not legal: 500.
	ErrLimit = errors.New("limit")
	// ErrCost is an error of a cost function, or a negative cost: 400.
	ErrCost = errors.New("cost")
	// ErrDenied is a client in one of the denied networks: 403.
	ErrDenied = errors.New("the client's network is denied")
	// ErrGone is a client that has left, or a request whose own deadline has
	// passed: 503.
	ErrGone = errors.New("the request is over")
)

// Error is why a request was answered without a decision of its policies. Nothing
// was charged, or it was given back. It is what OnError is given; clients never see its text.
type Error struct {
	// Status is the status of the default answer: 400, 403, 500 or 503.
	Status int
	// Policy is the name of the policy that it is about, "" if it is about none.
	Policy string
	// Err is the cause.
	Err error
}

// Error is the text for a log.
func (e *Error) Error() string {
	if e.Policy == "" {
		return "ratelimit: " + e.Err.Error()
	}
	return "ratelimit: policy " + strconv.Quote(e.Policy) + ": " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// undecided is the Error of a decision that failed.
func undecided(ctx context.Context, err error) *Error {
	switch {
	case ctx.Err() != nil:
		return gone(ctx)
	case errors.Is(err, core.ErrInvalid):
		return &Error{Status: http.StatusInternalServerError, Err: fmt.Errorf("%w: %w", ErrLimit, err)}
	}
	return &Error{Status: http.StatusServiceUnavailable, Err: err}
}

func gone(ctx context.Context) *Error {
	return &Error{Status: http.StatusServiceUnavailable, Err: fmt.Errorf("%w: %w", ErrGone, context.Cause(ctx))}
}

// outcome is what observers are told.
func (e *Error) outcome() Outcome {
	if e.Status == http.StatusForbidden {
		return Denied
	}
	return Failed
}

// answer is the default answer.
func (e *Error) answer(accept []string) (status int, fields []headers.Field, body string) {
	switch e.Status {
	case http.StatusBadRequest:
		return headers.BadRequest(accept)
	case http.StatusForbidden:
		return headers.Denied(accept)
	case http.StatusServiceUnavailable:
		return headers.Away(accept)
	}
	return headers.Failed(accept)
}
