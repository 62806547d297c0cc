package tally

import (
	"maps"
	"sync/atomic"
)

// Kind is what a policy has decided of a request, whatever the others decided.
type Kind uint8

const (
	// Admitted: the policy lets it pass.
	Admitted Kind = iota
	// Held: it passes, after a wait for its turn or for units.
	Held
	// Refused: a policy that enforces does not admit it now.
	Refused
	// Never: no wait can mend it.
	Never
	// Degraded: it passes, and the handler is told that it is in excess.
	Degraded
	// DryRunRefused: it passes, and the policy would refuse it if it enforced.
	DryRunRefused

	kinds = iota
)

// String is the kind's name, as in "dry_run_refused".
func (k Kind) String() string {
	switch k {
	case Admitted:
		return "admitted"
	case Held:
		return "held"
	case Refused:
		return "refused"
	case Never:
		return "never"
	case Degraded:
		return "degraded"
	}
	return "dry_run_refused"
}

const (
	// mostSeries bounds the pairs of policy and route. Those beyond are of the route
	// Other.
	mostSeries = 500
	// mostPolicies bounds the policies; those beyond are one, named Other.
	mostPolicies = 100

	// Unmatched is the route of requests that match none.
	Unmatched = "unmatched"
	// Other is the route, or the policy, of all beyond the most that are told apart.
	Other = "other"
)

// series are the counts of one policy on one route.
type series struct {
	place   // as it is asked for
	of      *policy
	results [kinds]atomic.Int64
}

// policy is what is counted of one policy on all routes.
type policy struct {
	name      string
	degrades  atomic.Bool
	clients   clients
	seen      cardinality  // in this minute
	hour      cardinality  // in the whole minutes of this hour
	last      atomic.Int64 // keys in the minute before
	manyTold  atomic.Bool
	remaining *Histogram // Remaining / Capacity at admission
	rejected  *Histogram // of clients, by the minute
}

// nearAt gives the counts of a place at a third of the cost of at: most places are
// the first of their slot, and are found by a glance at their names.
func (t *Tally) nearAt(p place) *series {
	slot := &t.near[p.glance()]
	if s := slot.Load(); s != nil {
		if s.place == p {
			return s
		}
		return t.at(p)
	}
	s := t.at(p)
	if s.place == p {
		slot.Store(s)
	}
	return s
}

const nearSlots = 256

// glance is a slot for a place, from a few of its bytes.
func (p place) glance() uint8 {
	n, m := len(p.route), len(p.policy)
	if n == 0 || m == 0 {
		return uint8(n + m)
	}
	return uint8(n) + 31*p.route[n/2] + 3*p.route[n-1] + uint8(m) + 11*p.policy[m-1]
}

// at gives the counts of a place, made at the first request there.
func (t *Tally) at(p place) *series {
	known := *t.series.Load()
	if s := known[p]; s != nil {
		return s
	}
	if len(known) >= mostSeries {
		p.route = Other
		if s := known[p]; s != nil {
			return s
		}
	}
	return t.add(p)
}

func (t *Tally) add(p place) *series {
	of := t.policyOf(p.policy)
	t.mu.Lock()
	defer t.mu.Unlock()
	known := *t.series.Load()
	if len(known) >= mostSeries {
		p = place{of.name, Other}
	}
	if s := known[p]; s != nil {
		return s
	}
	s := &series{place: p, of: of}
	grown := maps.Clone(known)
	grown[p] = s
	t.series.Store(&grown)
	return s
}

// policyOf gives the policy of a name, made at the first sight of it.
func (t *Tally) policyOf(name string) *policy {
	if known, ok := t.byName.Load(name); ok {
		return known.(*policy)
	}
	if t.known.Load() >= mostPolicies {
		name = Other
	}
	made, known := t.byName.LoadOrStore(name, &policy{name: name, remaining: shares(), rejected: shares()})
	if !known {
		t.known.Add(1)
	}
	return made.(*policy)
}
