package pipeline

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

// ask fills in what is asked of each policy, and gives the number of those that
// are asked: a policy may be left out, or decided by an outer middleware.
func (g *gate) ask(x Exchange, outer *trail, units []core.Units) (open int, failure *Error) {
	for i := range g.policies {
		p, u := &g.policies[i], &units[i]
		if failure := g.askOne(x, p, u); failure != nil {
			failure.Policy = p.Name
			return 0, failure
		}
		u.Skip = u.Skip || outer.hasCharged(g.names, p.Name, u.Key)
		if !u.Skip {
			open++
		}
	}
	return open, nil
}

func (g *gate) askOne(x Exchange, p *core.Policy, u *core.Units) (failure *Error) {
	if failure = g.findKey(x, p, u); failure != nil || u.Skip {
		return failure
	}
	if p.LimitFor != nil {
		if failure = chooseLimit(x, p, u); failure != nil {
			return failure
		}
	}
	u.Cost = 1
	if p.Cost == nil {
		return nil
	}
	cost, err := p.Cost(x)
	if err == nil && cost < 0 {
		err = fmt.Errorf("%w %d", core.ErrNegativeCost, cost)
	}
	if err != nil {
		return &Error{Status: http.StatusBadRequest, Err: fmt.Errorf("%w: %w", ErrCost, err)}
	}
	u.Cost = cost
	return nil
}

// findKey gives whom the request is counted against. Keys of our own start with a
// zero byte; found ones that do get another in front.
func (g *gate) findKey(x Exchange, p *core.Policy, u *core.Units) *Error {
	key, err := p.Key(x)
	switch {
	case err != nil && !errors.Is(err, core.ErrNoKey):
		return &Error{Status: http.StatusInternalServerError, Err: fmt.Errorf("%w: %w", ErrKey, err)}
	case err != nil, key == "":
		return g.withoutKey(x, p, u)
	case key[0] == 0:
		key = "\x00" + key
	case key == keyfuncs.NoAddress:
		g.warnAddressless(x)
	}
	u.Key = key
	return nil
}

func (g *gate) withoutKey(x Exchange, p *core.Policy, u *core.Units) *Error {
	switch p.NoKey {
	case core.RefuseNoKey:
		return &Error{Status: http.StatusBadRequest, Err: core.ErrNoKey}
	case core.SkipNoKey:
		u.Skip = true
		return nil
	}
	address, err := g.client.Key(x)
	if err != nil {
		return &Error{Status: http.StatusInternalServerError, Err: fmt.Errorf("%w: %w", ErrKey, err)}
	}
	u.Key = "\x00ip:" + address
	return nil
}

func chooseLimit(x Exchange, p *core.Policy, u *core.Units) *Error {
	limit, err := p.LimitFor(x)
	if err == nil {
		err = limit.Err()
	}
	if err != nil && limit == (core.Limit{}) {
		err = fmt.Errorf("no limit for this request: return core.Unlimited(), core.Blocked() or another: %w", err)
	}
	if err != nil {
		return &Error{Status: http.StatusInternalServerError, Err: fmt.Errorf("%w: %w", ErrLimit, err)}
	}
	u.Limit = limit
	return nil
}

// warnAddressless says once that clients without an address share one key.
func (g *gate) warnAddressless(x Exchange) {
	if g.client.Addr(x).IsValid() {
		return // a key that reads the same
	}
	g.addressless.Do(func() {
		g.logger.WarnContext(x.Context(), "ratelimit: clients without an address (a unix socket) are counted together; choose another key, or keyfuncs.TrustProxies(\"unix\")")
	})
}
