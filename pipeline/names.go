package pipeline

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/ratelimit-go/ratelimit/core"
)

// names are the policies of one store. A name is an identity: whoever uses it on
// the store shares one budget, so it must mean the same everywhere.
type names struct {
	mu    sync.Mutex // guards known
	known map[string]identity

	given bool // the store was given by the user: every policy needs a name
}

// identity is what policies of one name must agree in.
type identity struct {
	id              string // name, algorithm, period and intervals
	count, capacity int64
	police          bool
}

// registry remembers the stores that users gave, for the program's life: they are
// made at start-up, and policies can be put on one from anywhere.
var registry struct {
	sync.Mutex // guards stores
	stores     map[core.Store]*names
}

// namesOf gives the names of a store that a user gave. A store that cannot be
// compared is new each time.
func namesOf(store core.Store) *names {
	if !reflect.ValueOf(store).Comparable() {
		return newNames(true)
	}
	registry.Lock()
	defer registry.Unlock()
	if registry.stores == nil {
		registry.stores = make(map[core.Store]*names)
	}
	known, ok := registry.stores[store]
	if !ok {
		known = newNames(true)
		registry.stores[store] = known
	}
	return known
}

func newNames(given bool) *names {
	return &names{known: make(map[string]identity), given: given}
}

// claim enters the policies. It panics where a name would be shared unawares.
func (n *names) claim(policies []core.Policy) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range policies {
		terms, err := p.Terms(p.Limit)
		if err != nil {
			panic(err.Error())
		}
		n.claimOne(p, terms)
	}
}

// claimOne requires that n.mu is held.
func (n *names) claimOne(p core.Policy, terms *core.Terms) {
	name := p.DisplayName()
	mine := identity{terms.ID, terms.Count, terms.Capacity, terms.Police}
	known, taken := n.known[name]
	switch {
	case p.Name == "" && n.given:
		panic(fmt.Sprintf("ratelimit: policy %v has no name, and its store is shared: give it one with Named", p.Limit))
	case p.Name == "" && taken:
		panic(fmt.Sprintf("ratelimit: a second policy %v without a name would share the first one's budget: name them apart with Named", p.Limit))
	case taken && known != mine:
		panic(fmt.Sprintf("ratelimit: policy name %q stands for two different limits on one store: give the second another name (%v)", name, p.Limit))
	}
	n.known[name] = mine
}
