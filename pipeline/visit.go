package pipeline

import (
	"context"
	"slices"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/headers"
)

// Visit is what one middleware knows of one request. An adapter embeds it in its
// [Exchange]; the zero Visit is ready.
type Visit struct {
	trail *trail
	//lint:ignore U1000 open uses it
	own  trail         // what trail is where nobody may keep it
	held time.Duration // how long the request has waited
	room [usualFields]headers.Field
}

// usualFields is the number of the default header fields.
const usualFields = 5

//lint:ignore U1000 Exchange has it, in the adapters
func (v *Visit) visit() *Visit { return v }

// open makes room for the trail: with the visit, which serves again, or apart, for
// those who find it in the request's context. Fields are copied by who sets them.
//
//lint:ignore U1000 Exchange has it, in the adapters
func (v *Visit) open(alone, _ bool) *Visit {
	if v.trail = &v.own; !alone {
		v.trail = new(trail)
	}
	return v
}

// trail is what a middleware has decided of a request, in the request's context:
// each middleware of the project puts its own around the outer one's. It does not
// change once it is there, since handlers may use the context as they like.
type trail struct {
	context.Context        // the request's, as it came
	outer           *trail // of the next outer middleware
	names           *names // stands for the store
	result          core.Result
}

type trailKey struct{}

// Value gives the trail itself, or what the request's context holds.
func (t *trail) Value(key any) any {
	if key == (trailKey{}) {
		return t
	}
	return t.Context.Value(key)
}

// trailFrom is the innermost middleware's trail, nil if there is none.
func trailFrom(ctx context.Context) *trail {
	t, _ := ctx.Value(trailKey{}).(*trail)
	return t
}

// hasCharged reports whether this or an outer middleware has charged a policy of a
// store for a key.
func (t *trail) hasCharged(n *names, policy, key string) bool {
	for ; t != nil; t = t.outer {
		if t.names != n {
			continue
		}
		for i := range t.result.Len() {
			if a := t.result.Ask(i); a.Charged > 0 && a.Terms.Policy == policy && a.Key == key {
				return true
			}
		}
	}
	return false
}

// results are those of all middlewares up to this one, the outermost first.
func (t *trail) results() []*core.Result {
	var all []*core.Result
	for ; t != nil; t = t.outer {
		all = append(all, &t.result)
	}
	slices.Reverse(all)
	return all
}

// ResultsFrom gives what has been decided of the request so far, the outermost
// middleware first, nil if nothing was or Options.Alone is set. Handlers find there
// what a degrading policy or a store that is away means for them. They are for reading
// only.
//
// A request that a handler serves within the program, with a context made from its
// own, is part of the one that has been decided, and is not charged again: see
// [Detach].
func ResultsFrom(ctx context.Context) []*core.Result { return trailFrom(ctx).results() }

// Detach gives a context in which nothing has been decided yet: for a handler that
// serves many requests within one, such as a batch, which are each to be charged.
func Detach(ctx context.Context) context.Context { return detached{ctx} }

type detached struct{ context.Context }

// Value hides the trail.
func (d detached) Value(key any) any {
	if key == (trailKey{}) {
		return nil
	}
	return d.Context.Value(key)
}
