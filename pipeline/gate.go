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
	if len(g.allow)+len(g.deny) > 0 {
		addr := g.client.Addr(x)
		if g.deny.contain(addr) {
			return g.fail(x, &Error{Status: http.StatusForbidden, Err: ErrDenied})
		}
		if g.allow.contain(addr) {
			return pass
		}
	}
	if g.skipPreflight && isPreflight(x) {
		return pass
	}
	ctx := x.Context()
	if ctx.Err() != nil {
		return g.fail(x, gone(ctx))
	}
	if t := trailFrom(ctx); t != nil {
		return g.decide(ctx, x, t)
	}
	own := &x.visit().trail
	own.start(ctx)
	verdict := g.decide(ctx, x, own)
	if verdict == charged {
		x.SetContext(own)
	}
	return verdict
}

// decide asks for all policies at once.
func (g *gate) decide(ctx context.Context, x Exchange, t *trail) verdict {
	var few [2]core.Units // what most middlewares need, without an allocation
	units := few[:min(len(g.policies), len(few))]
	if len(g.policies) > len(few) {
		units = make([]core.Units, len(g.policies))
	}
	open, failure := g.ask(x, t, units)
	if failure != nil {
		return g.fail(x, failure)
	}
	if open == 0 {
		return pass
	}
	v := x.visit()
	var err error
	if v.result, err = g.take(ctx, units); err != nil {
		return g.fail(x, undecided(ctx, err))
	}
	t.results = append(t.results, &v.result)
	g.tell(x, t)
	if !v.result.Allowed {
		return g.refuse(x, &v.result)
	}
	g.remember(t, units)
	return g.await(ctx, x, &v.result)
}

// await holds an admitted request until its turn has come.
func (g *gate) await(ctx context.Context, x Exchange, r *core.Result) verdict {
	if sleep(ctx, r.Delay) {
		return charged
	}
	g.giveBack(ctx, r)
	return g.fail(x, gone(ctx))
}

// tell sets the header fields, of all middlewares so far.
func (g *gate) tell(x Exchange, t *trail) {
	if len(t.results) > 1 { // an outer one has set its own
		for _, name := range g.fieldNames {
			x.SetField(name, "")
		}
	}
	now := time.Time{} // the present
	if g.now != nil {
		now = g.now()
	}
	var room [8]headers.Field
	setFields(x, g.format.Append(room[:0], now, t.results...))
}

func setFields(x Exchange, fields []headers.Field) {
	for i := range fields {
		x.SetField(fields[i].Name, fields[i].Value)
	}
}

// remember keeps what was charged, so that an inner middleware does not charge it
// again.
func (g *gate) remember(trail *trail, units []core.Units) {
	for i := range units {
		if u := &units[i]; !u.Skip && u.Cost > 0 {
			trail.charges = append(trail.charges, charge{g.names, g.policies[i].Name, u.Key})
		}
	}
}

// refuse answers what the policies do not admit.
func (g *gate) refuse(x Exchange, r *core.Result) verdict {
	status, fields, body := headers.Refused(r, x.Header("Accept"))
	setAnswerFields(x, fields)
	if !x.OnRefused(*r) {
		setFields(x, fields)
		x.Answer(status, body)
	}
	return stop
}

// fail answers what could not be decided.
func (g *gate) fail(x Exchange, e *Error) verdict {
	status, fields, body := e.answer(x.Header("Accept"))
	setAnswerFields(x, fields)
	if x.OnError(e) {
		return stop
	}
	if status == http.StatusInternalServerError {
		g.logger.ErrorContext(x.Context(), "ratelimit: a request could not be decided", "error", e)
	}
	setFields(x, fields)
	x.Answer(status, body)
	return stop
}

// setAnswerFields sets the fields of an answer whatever its body, whose type is for
// who writes it. What outer code has said about another body is removed; not its
// encoding, since whoever set that has also wrapped the writer.
func setAnswerFields(x Exchange, fields []headers.Field) {
	for _, name := range [...]string{"Content-Length", "Etag", "Last-Modified", "Content-Range"} {
		x.SetField(name, "")
	}
	for i := range fields {
		if fields[i].Name != "Content-Type" {
			x.SetField(fields[i].Name, fields[i].Value)
		}
	}
}

func isPreflight(x Exchange) bool {
	return x.Method() == http.MethodOptions && len(x.Header("Origin")) > 0 && len(x.Header("Access-Control-Request-Method")) > 0
}
