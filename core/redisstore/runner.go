package redisstore

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
)

var (
	// ErrTimeout is wrapped by the error of a decision that the server has not
	// answered within the store's [Timeout]. It may have charged it.
	ErrTimeout = errors.New("ratelimit: redis: no answer in time")
	// ErrBusy is wrapped by the error of a decision that was not sent because
	// thousands are waiting for the server.
	ErrBusy = errors.New("ratelimit: redis: too many decisions are waiting")
)

const (
	// mostWaiting bounds the goroutines that a frozen server can hold.
	mostWaiting = 4096
	// pause is between two tries of what was surely not executed.
	pause = 5 * time.Millisecond
)

var scriptHash = func() string {
	sum := sha1.Sum([]byte(core.Script())) // the name that the server gives it
	return hex.EncodeToString(sum[:])
}()

// runner runs the script: at most once, and in time.
type runner struct {
	client redis.UniversalClient
	prompt bool          // the client itself ends with its context
	seats  chan struct{} // one for each goroutine that waits for the server
}

func newRunner(client redis.UniversalClient) runner {
	return runner{client: client, prompt: prompt(client), seats: make(chan struct{}, mostWaiting)}
}

// prompt reports whether the client's sockets heed a context's deadline: by default
// go-redis lets them wait for its own timeouts.
func prompt(client redis.UniversalClient) bool {
	switch c := client.(type) {
	case *redis.Client:
		return c.Options().ContextTimeoutEnabled
	case *redis.ClusterClient:
		return c.Options().ContextTimeoutEnabled
	case *redis.Ring:
		return c.Options().ContextTimeoutEnabled
	}
	return false
}

// run runs the script with the arguments of EVALSHA and gives its reply.
func (r runner) run(ctx context.Context, timeout time.Duration, args []any) (any, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, ErrTimeout)
	defer cancel()
	if ctx.Err() != nil {
		return nil, explain(ctx, ctx.Err())
	}
	var reply any
	var err error
	if r.prompt {
		reply, err = r.evaluate(ctx, args)
	} else {
		reply, err = r.aside(ctx, args)
	}
	if err != nil {
		return nil, explain(ctx, err)
	}
	return reply, nil
}

// aside evaluates in a goroutine, which may stay behind with a socket that hangs.
func (r runner) aside(ctx context.Context, args []any) (any, error) {
	select {
	case r.seats <- struct{}{}:
	default:
		return nil, ErrBusy
	}
	type outcome struct {
		reply any
		err   error
	}
	answered := make(chan outcome, 1)
	go func() {
		defer func() { <-r.seats }()
		reply, err := r.evaluate(ctx, args)
		answered <- outcome{reply, err}
	}()
	select {
	case o := <-answered:
		return o.reply, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// explain says why there is no reply, the end of the context first.
func explain(ctx context.Context, err error) error {
	if deadline, ok := ctx.Deadline(); ok && errors.Is(err, os.ErrDeadlineExceeded) && !time.Now().Before(deadline) {
		<-ctx.Done() // the socket's timer was the faster one
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if errors.Is(err, ErrTimeout) || errors.Is(err, ErrBusy) {
		return err
	}
	return fmt.Errorf("ratelimit: redis: %w", err)
}

// evaluate tries again what was surely not executed, until the context ends.
func (r runner) evaluate(ctx context.Context, args []any) (any, error) {
	for {
		reply, err := r.once(ctx, args)
		if !notExecuted(err) {
			return reply, err
		}
		if !sleep(ctx, pause) {
			return nil, err
		}
	}
}

// once calls the script by its hash. A server that has not seen it gets it loaded,
// or with the call where loading is forbidden.
func (r runner) once(ctx context.Context, args []any) (any, error) {
	reply, err := r.process(ctx, args)
	if !redis.HasErrorPrefix(err, "NOSCRIPT") {
		return reply, err
	}
	if r.client.ScriptLoad(ctx, core.Script()).Err() == nil {
		reply, err = r.process(ctx, args)
	}
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		whole := append([]any{"eval", core.Script()}, args[2:]...)
		reply, err = r.process(ctx, whole)
	}
	return reply, err
}

// atMostOnce is a command that go-redis does not send again: a lost answer does not
// mean that nothing was charged.
type atMostOnce struct{ *redis.Cmd }

// NoRetry implements [redis.Cmder].
func (atMostOnce) NoRetry() bool { return true }

func (r runner) process(ctx context.Context, args []any) (any, error) {
	cmd := atMostOnce{redis.NewCmd(ctx, args...)}
	_ = r.client.Process(ctx, cmd) // also in cmd
	return cmd.Result()
}

// notExecuted reports an error with which the server proves that it has charged
// nothing.
func notExecuted(err error) bool {
	for _, proof := range [...]string{"LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN"} {
		if redis.HasErrorPrefix(err, proof) {
			return true
		}
	}
	// Redis 6 puts its own words before the error of a script's command.
	return err != nil && strings.Contains(err.Error(), "-READONLY ")
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
