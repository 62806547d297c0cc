package pipeline

import (
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// Observer is told what happens on the path, for metrics: what Options.Observers
// takes. Its methods are called on the path of the request, by many goroutines at
// once: they must not block and should not allocate.
type Observer interface {
	// Decided is called once for each request that a middleware has answered for or
	// lets pass, before the handler or the answer. Requests that are none of its
	// business (skipped, of an allowed network, decided by an outer middleware) are
	// not told.
	//
	// The route is that of core.Request, "" where none matches or the router cannot
	// be seen. What was decided is in r, policy by policy; r has no policies where the
	// outcome is Denied, and may have none where it is Failed. It must not be kept.
	// Held is how long the request waited for its turn or for units to come back.
	Decided(route string, r *core.Result, outcome Outcome, held time.Duration)
	// StoreAnswered is called after each decision of a store given in Options that
	// is not in memory: how long it took, and its error. Where the client has left
	// meanwhile, nothing is told.
	StoreAnswered(took time.Duration, err error)
}

// Outcome is what becomes of a request.
type Outcome uint8

const (
	// Admitted goes on to the handler.
	Admitted Outcome = iota
	// Refused is answered with 429.
	Refused
	// Failed is answered without a decision, as OnError is told: a key, a limit or
	// a cost went wrong, the store is away and a policy is closed, or the client
	// has left.
	Failed
	// Denied is of a denied network.
	Denied
)

// String is the outcome's name, as in "admitted".
func (o Outcome) String() string {
	switch o {
	case Admitted:
		return "admitted"
	case Refused:
		return "refused"
	case Denied:
		return "denied"
	}
	return "failed"
}

// observe tells the observers. Without any, not even the route is looked up.
func (g *gate) observe(x Exchange, v *Visit, outcome Outcome) {
	if len(g.observers) == 0 {
		return
	}
	route, err := x.Route()
	if err != nil {
		route = ""
	}
	for _, o := range g.observers {
		o.Decided(route, &v.trail.result, outcome, v.held)
	}
}
