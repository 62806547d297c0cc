package pipeline

import (
	"context"
	"net/http"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/headers"
)

// gate is the part of the path before the handler.
type gate struct {
	shared
	limiter  *core.Limiter
	policies []core.Policy
	holds    bool // a policy holds what it does not admit
}

// verdict is what becomes of a request at the gate.
type verdict uint8

const (
	stop    verdict = iota // it has been answered
	pass                   // it is none of the policies' business
	charged                // it passes, decided
)

func (g *gate) prepare() {
	g.format = g.format.For(g.policies...)
	for i := range g.policies {
		p := &g.policies[i]
		p.Name = p.DisplayName()
		g.holds = g.holds || p.OnExcess == core.Hold
		if p.Key == nil {
			p.Key = g.client.Key
		}
	}
}

// enter decides a request, and answers it where it may not pass.
func (g *gate) enter(x Exchange) verdict {
	v := x.open(g.alone, len(g.noFields) > 0)
	allowed, denied := g.listed(x)
	switch {
	case denied:
		return g.fail(x, &Error{Status: http.StatusForbidden, Err: ErrDenied})
	case allowed, g.skipPreflight && isPreflight(x):
		return pass
	}
	ctx := x.Context()
	if ctx.Err() != nil {
		return g.fail(x, gone(ctx))
	}
	if g.alone {
		return g.decide(ctx, x, v)
	}
	t := v.trail
	t.Context, t.outer, t.names = ctx, trailFrom(ctx), g.names
	verdict := g.decide(ctx, x, v)
	if verdict == charged {
		x.SetContext(t)
	}
	return verdict
}

// listed reports on which list of networks the client is.
func (g *gate) listed(x Exchange) (allowed, denied bool) {
	if len(g.allow)+len(g.deny) == 0 {
		return false, false
	}
	addr := g.client.Addr(x)
	return g.allow.contain(addr), g.deny.contain(addr)
}

// decide asks for all policies at once.
func (g *gate) decide(ctx context.Context, x Exchange, v *Visit) verdict {
	var few [2]core.Units // what most middlewares need, without an allocation
	units := few[:min(len(g.policies), len(few))]
	if len(g.policies) > len(few) {
		units = make([]core.Units, len(g.policies))
	}
	open, failure := g.ask(x, v.trail.outer, units)
	if failure != nil {
		return g.fail(x, failure)
	}
	if open == 0 {
		g.advice.onPassed(g.policies, units)
		return pass
	}
	g.advice.onRequest(x, g.policies, units)
	if err := g.take(ctx, v, units); err != nil {
		return g.fail(x, undecided(ctx, err))
	}
	r := &v.trail.result
	g.tell(x, v)
	if !r.Allowed {
		return g.refuse(x, r)
	}
	if !v.sleep(ctx, r.Delay) { // until its turn has come
		g.giveBack(ctx, r)
		return g.fail(x, gone(ctx))
	}
	g.observe(x, v, Admitted)
	return charged
}

// tell sets the header fields, of all middlewares so far.
func (g *gate) tell(x Exchange, v *Visit) {
	now := time.Time{} // the present
	if g.now != nil {
		now = g.now()
	}
	if v.trail.outer == nil {
		if fields := g.format.Append(v.room[:0], now, &v.trail.result); len(fields) > 0 {
			x.SetFields(fields)
		}
		return
	}
	x.SetFields(g.noFields) // the outer one has set its own
	x.SetFields(g.format.Append(v.room[:0], now, v.trail.results()...))
}

// refuse answers what the policies do not admit.
func (g *gate) refuse(x Exchange, r *core.Result) verdict {
	g.observe(x, x.visit(), Refused)
	g.advice.onRefused(r)
	status, fields, body := headers.Refused(r, x.Header("Accept"))
	setAnswerFields(x, fields)
	if !x.OnRefused(*r) {
		x.SetFields(fields)
		x.Answer(status, body)
	}
	return stop
}

// fail answers what could not be decided.
func (g *gate) fail(x Exchange, e *Error) verdict {
	g.observe(x, x.visit(), e.outcome())
	status, fields, body := e.answer(x.Header("Accept"))
	setAnswerFields(x, fields)
	if x.OnError(e) {
		return stop
	}
	if status == http.StatusInternalServerError {
		g.complain(x.Context(), e)
	}
	x.SetFields(fields)
	x.Answer(status, body)
	return stop
}

// ofAnotherBody are the fields by which outer code has described another body; not
// its encoding, since whoever set that has also wrapped the writer.
var ofAnotherBody = []headers.Field{{Name: "Content-Length"}, {Name: "Etag"}, {Name: "Last-Modified"}, {Name: "Content-Range"}}

// setAnswerFields sets the fields of an answer whatever its body, whose type, the
// first of the fields, is for who writes it.
func setAnswerFields(x Exchange, fields []headers.Field) {
	x.SetFields(ofAnotherBody)
	x.SetFields(fields[1:])
}

func isPreflight(x Exchange) bool {
	return x.Method() == http.MethodOptions && len(x.Header("Origin")) > 0 && len(x.Header("Access-Control-Request-Method")) > 0
}
