package redisstore

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
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

// server is a client of one server, or of all.
type server interface {
	Process(ctx context.Context, cmd redis.Cmder) error
	Pipeline() redis.Pipeliner
	ScriptLoad(ctx context.Context, script string) *redis.StringCmd
}

// runner runs the script: at most once, and in time.
type runner struct {
	client redis.UniversalClient
	prompt bool          // the client itself ends with its context
	seats  chan struct{} // one for each goroutine that waits for the server
	// reached is set once a server has answered: a cluster's layout is known then.
	reached *atomic.Bool
}

func newRunner(client redis.UniversalClient) runner {
	return runner{client: client, prompt: prompt(client), seats: make(chan struct{}, mostWaiting), reached: new(atomic.Bool)}
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

// run makes calls on a lane. An error is that of all of them, which are then not to be
// read; else each has its own.
func (r runner) run(ctx context.Context, on *lane, calls []*call) error {
	if ctx.Err() != nil {
		return explain(ctx, ctx.Err())
	}
	return on.breaker.run(ctx, calls, func() error {
		if r.prompt {
			r.evaluate(ctx, on.to, calls)
			return nil
		}
		return r.aside(ctx, on.to, calls)
	})
}

// runOne makes one call within a time, and gives its reply.
func (r runner) runOne(ctx context.Context, timeout time.Duration, on *lane, c *call) (reply, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, ErrTimeout)
	defer cancel()
	if err := r.run(ctx, on, []*call{c}); err != nil {
		return nil, err
	}
	if c.err != nil {
		return nil, explain(ctx, c.err)
	}
	return c.reply, nil
}

// aside evaluates in a goroutine, which may stay behind with a socket that hangs.
func (r runner) aside(ctx context.Context, to server, calls []*call) error {
	select {
	case r.seats <- struct{}{}:
	default:
		return ErrBusy
	}
	answered := make(chan struct{})
	go func() {
		defer func() { <-r.seats }()
		r.evaluate(ctx, to, calls)
		close(answered)
	}()
	select {
	case <-answered:
		return nil
	case <-ctx.Done():
		return explain(ctx, ctx.Err())
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
	if errors.Is(err, ErrTimeout) || errors.Is(err, ErrBusy) || errors.Is(err, ErrAway) {
		return err
	}
	return fmt.Errorf("ratelimit: redis: %w", err)
}

// evaluate tries again what was surely not executed, until the context ends.
func (r runner) evaluate(ctx context.Context, to server, calls []*call) {
	for {
		r.once(ctx, to, calls)
		if calls = those(calls, notExecuted); len(calls) == 0 || !sleep(ctx, pause) {
			return
		}
	}
}

// once makes calls by the script's hash. A server that has not seen the script gets
// it loaded, or with the call where loading is forbidden. What has moved to another
// server of a cluster goes there.
func (r runner) once(ctx context.Context, to server, calls []*call) {
	process(ctx, to, calls)
	if len(those(calls, broken)) < len(calls) && !r.reached.Load() {
		r.reached.Store(true)
	}
	if missing := those(calls, noScript); len(missing) > 0 {
		if to.ScriptLoad(ctx, core.Script()).Err() == nil {
			process(ctx, to, missing)
		}
		for _, c := range those(missing, noScript) {
			c.args = append([]any{"eval", core.Script()}, c.args[2:]...)
			process(ctx, to, []*call{c})
		}
	}
	cluster, ok := r.client.(*redis.ClusterClient)
	if !ok {
		return
	}
	if len(those(calls, broken)) > 0 {
		cluster.ReloadState(ctx) // go-redis looks for a new master only where it may try again
	}
	for _, c := range those(calls, moved) {
		if to != server(cluster) {
			r.once(ctx, cluster, []*call{c})
		}
	}
}

// those are the calls with an error of a kind.
func those(calls []*call, kind func(error) bool) []*call {
	var found []*call
	for _, c := range calls {
		if c.err != nil && kind(c.err) {
			found = append(found, c)
		}
	}
	return found
}

// atMostOnce is a command that go-redis does not send again: a lost answer does not
// mean that nothing was charged.
type atMostOnce struct{ *redis.StringCmd }

// NoRetry implements [redis.Cmder].
func (atMostOnce) NoRetry() bool { return true }

// process makes the calls, several in one round trip.
func process(ctx context.Context, to server, calls []*call) {
	if len(calls) == 1 {
		cmd := atMostOnce{redis.NewStringCmd(ctx, calls[0].args...)}
		_ = to.Process(ctx, cmd) // also in cmd
		calls[0].reply, calls[0].err = cmd.Bytes()
		return
	}
	pipe := to.Pipeline()
	cmds := make([]atMostOnce, len(calls))
	for i, c := range calls {
		cmds[i] = atMostOnce{redis.NewStringCmd(ctx, c.args...)}
		_ = pipe.Process(ctx, cmds[i]) // only queues it
	}
	_, _ = pipe.Exec(ctx) // also in cmds
	for i, c := range calls {
		c.reply, c.err = cmds[i].Bytes()
	}
}

func noScript(err error) bool { return redis.HasErrorPrefix(err, "NOSCRIPT") }

// moved reports that a cluster keeps the key elsewhere.
func moved(err error) bool {
	return redis.HasErrorPrefix(err, "MOVED") || redis.HasErrorPrefix(err, "ASK") || errors.Is(err, redis.ErrClosed)
}

// broken reports that it was not the server that gave the error.
func broken(err error) bool {
	var told redis.Error
	return !errors.As(err, &told)
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
	return strings.Contains(err.Error(), "-READONLY ")
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
