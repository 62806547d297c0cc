package debug

import (
	"fmt"
	"net/http"
	"reflect"
	"sync"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/metrics/tally"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

// Options are choices for [New]. The zero Options is the default.
type Options struct {
	// Authorize says whether a request may reset or block a client. Nil: none may,
	// and no page offers it.
	Authorize func(*http.Request) bool
	// Tally has counted, where others show the same counts; it is in Observers, too.
	// Nil: one of its own.
	Tally *tally.Tally
	// ShowKeys shows the keys of the most refused clients, which may be secrets or
	// personal, and not their hashes.
	ShowKeys bool
}

// Handler is the handler, and a pipeline.Observer of the middlewares that it is to
// tell about. It is made by [New].
type Handler struct {
	tally.View
	options  Options
	crossing http.CrossOriginProtection

	mu       sync.RWMutex // guards what follows
	policies []*entry
}

// entry is a policy in force on a store.
type entry struct {
	id      string // the name, with a number where another store has the name too
	store   core.Store
	policy  core.Policy
	limiter *core.Limiter // of the policy
	trial   *core.Limiter // of the policy and of one that refuses everything
}

// New makes a Handler that knows no policy yet.
func New(o Options) *Handler {
	return &Handler{View: tally.NewView(o.Tally, tally.Options{}), options: o}
}

// Mounted implements pipeline.MountObserver: the policies become known.
func (h *Handler) Mounted(m pipeline.Mount) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range m.Policies {
		h.add(m.Store, p)
	}
	h.View.Mounted(m)
}

// mostPolicies bounds what is known where middlewares are made without end.
const mostPolicies = 1000

// add requires that h.mu is held.
func (h *Handler) add(store core.Store, p core.Policy) {
	p.Name = p.DisplayName()
	if len(h.policies) >= mostPolicies {
		return
	}
	known := reflect.ValueOf(store).Comparable() // else it is another each time
	same := 1
	for _, e := range h.policies {
		if e.policy.Name != p.Name {
			continue
		}
		if known && e.store == store {
			return
		}
		same++
	}
	e := &entry{id: p.Name, store: store, policy: p}
	if same > 1 {
		e.id = fmt.Sprintf("%s #%d", p.Name, same)
	}
	p.StoreAway = core.Closed // what another memory says would mislead
	p.Lease = 0               // what is asked here goes to the store
	// The middleware has made a limiter of the policy: so can this.
	e.limiter, _ = core.NewLimiter(store, p)
	e.trial, _ = core.NewLimiter(store, p, core.PerLimit(core.Blocked()).Named(refuses))
	h.policies = append(h.policies, e)
}

// refuses is the policy that keeps a trial from being charged: all policies are
// charged or none.
const refuses = "ratelimit.debug"

func (h *Handler) find(id string) *entry {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, e := range h.policies {
		if e.id == id {
			return e
		}
	}
	return nil
}
