// Package pipeline is the path of one request, written once for all frameworks:
//
//	skip? -> denied or allowed network? -> keys, limits and costs -> one decision
//	-> header fields -> refuse | hold | pass -> after the handler: refund or settle
//
// Users meet it through the package of their framework, whose Options are
// [Options]. Adapters implement [Exchange] and hand each request to [Path.Serve].
package pipeline

import (
	"context"
	"net/http"

	"github.com/ratelimit-go/ratelimit/core"
)

// Path is the path of the requests of one middleware. C is the framework's
// context. It is made by [Limits.Path].
type Path[C any] struct {
	gate
	skip    func(C) bool
	failure func(C, int) bool
	actual  func(C) (int64, bool)
	watches bool // the outcome is needed
}

func (p *Path[C]) prepare() {
	p.gate.prepare()
	for _, policy := range p.policies {
		p.watches = p.watches || policy.Count != core.CountAll || policy.Cost != nil && p.actual != nil
	}
}

// Serve takes one request along the path: it calls x.Next at most once, and
// otherwise answers.
func (p *Path[C]) Serve(x Exchange) {
	if p.skip != nil && p.skip(x.Native().(C)) {
		x.Next(false)
		return
	}
	switch verdict := p.enter(x); {
	case verdict == stop:
	case verdict == charged && p.watches:
		p.watch(x)
	default:
		x.Next(false)
	}
}

// watch runs the handler and corrects the charge by what came of it, also where it
// panics: the panic goes on to the framework.
func (p *Path[C]) watch(x Exchange) {
	panicked := true
	status := http.StatusInternalServerError
	defer func() { p.correct(x, status, panicked) }()
	status = x.Next(true)
	panicked = false
}

// correct gives back or settles what the policies say, in one call.
func (p *Path[C]) correct(x Exchange, status int, panicked bool) {
	c := x.Native().(C)
	actual, settled := int64(0), false
	if p.actual != nil && !panicked {
		actual, settled = p.actual(c)
	}
	costs, changed := make([]int64, len(p.policies)), false
	for i := range p.policies {
		switch policy := &p.policies[i]; {
		case status != 0 && p.uncounted(c, policy.Count, status):
			costs[i] = 0
		case settled && policy.Cost != nil:
			costs[i] = actual
		default:
			costs[i] = -1 // as it was charged
		}
		changed = changed || costs[i] >= 0
	}
	if !changed {
		return
	}
	// The refund is due though the client may have left.
	ctx := context.WithoutCancel(x.Context())
	if err := p.limiter.SettleEach(ctx, &x.visit().trail.result, costs); err != nil {
		p.logger.WarnContext(ctx, "ratelimit: a charge could not be corrected", "error", err)
	}
}

// uncounted reports whether an answer's status is one that the policy does not
// count.
func (p *Path[C]) uncounted(c C, count core.Outcomes, status int) bool {
	if count == core.CountAll {
		return false
	}
	failed := status >= http.StatusBadRequest
	if p.failure != nil {
		failed = p.failure(c, status)
	}
	return failed == (count == core.CountSuccesses)
}
