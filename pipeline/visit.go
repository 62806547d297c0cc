package pipeline

import (
	"context"

	"github.com/ratelimit-go/ratelimit/core"
)

// Visit is what one middleware keeps of one request. An adapter embeds it in its
// [Exchange], so that both are one allocation; the zero Visit is ready.
type Visit struct {
	result core.Result
	trail  trail
	lines  [5]string // the values of the first fields, enough for the default ones
	taken  int       // of lines
}

func (v *Visit) visit() *Visit { return v }

// trail is what all middlewares of the project know of one request. It hangs in
// the request's context, put there by the first.
type trail struct {
	context.Context
	results []*core.Result
	charges []charge

	firstResult [1]*core.Result // what most requests need, without an allocation
	firstCharge [1]charge
}

// charge is what must not be charged twice in one request.
type charge struct {
	names  *names // stands for the store
	policy string
	key    string
}

type trailKey struct{}

// Value gives the trail itself, or what the request's context holds.
func (t *trail) Value(key any) any {
	if key == (trailKey{}) {
		return t
	}
	return t.Context.Value(key)
}

func trailFrom(ctx context.Context) *trail {
	t, _ := ctx.Value(trailKey{}).(*trail)
	return t
}

// start makes the trail ready as that of a request with a context.
func (t *trail) start(ctx context.Context) {
	t.Context = ctx
	t.results = t.firstResult[:0]
	t.charges = t.firstCharge[:0]
}

func (t *trail) charged(c charge) bool {
	for i := range t.charges {
		if t.charges[i] == c {
			return true
		}
	}
	return false
}

// ResultsFrom gives what has been decided of the request so far, the outermost
// middleware first, nil if nothing was. Handlers find there what a degrading
// policy or a store that is away means for them. They are for reading only.
func ResultsFrom(ctx context.Context) []*core.Result {
	if t := trailFrom(ctx); t != nil {
		return t.results
	}
	return nil
}
