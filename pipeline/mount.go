package pipeline

import "github.com/ratelimit-go/ratelimit/core"

// Mount is what a middleware stands on.
type Mount struct {
	// Store keeps its counts: the one given in Options, or that in memory.
	Store core.Store
	// Limiter decides over the policies on that store.
	Limiter *core.Limiter
	// Policies are the middleware's policies, each with its name.
	Policies []core.Policy
}

// MountObserver is an [Observer] that is also told of each middleware when it is
// made, before it serves.
type MountObserver interface {
	Mounted(m Mount)
}

// mount tells the observers of a middleware that has been made, and points out what
// can be seen of it at start-up.
func (a *adviser) mount(g *gate) {
	store := g.store
	if remote, ok := store.(*watched); ok {
		store = remote.Store
	}
	for _, o := range g.observers {
		if mounted, ok := o.(MountObserver); ok {
			mounted.Mounted(Mount{Store: store, Limiter: g.limiter, Policies: g.policies})
		}
	}
	a.onMount(store, g.client, g.policies)
}
