package core

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

var (
	// ErrStoreAway is wrapped by the error of a request that could not be decided
	// because the store did not answer and a policy is [Closed].
	ErrStoreAway = errors.New("ratelimit: the store is away")
	// ErrNegativeCost is wrapped by the error of a request with a cost below 0.
	ErrNegativeCost = errors.New("ratelimit: negative cost")
	// ErrRefused is wrapped by the error of a [Limiter.Wait] that cannot succeed:
	// never, or not before the deadline.
	ErrRefused = errors.New("ratelimit: refused")
)

// Limiter decides over one store by one or more policies: a request is admitted
// only if every one admits it, and is then charged to all of them or to none. It
// is safe for concurrent use.
type Limiter struct {
	store    Store
	memory   *Memory // store, where it is the embedded one
	policies []*bound
	now      func() time.Time

	localOnce sync.Once
	local     *Memory // decides while the store is away
}

// bound is a policy with its terms made ready.
type bound struct {
	Policy
	terms  *Terms
	share  *Terms   // what this instance decides by while the store is away
	others sync.Map // Limit -> [2]*Terms: chosen for a request, made on first sight
	known  atomic.Int64
}

// mostChosen bounds the limits of one policy that are kept ready.
const mostChosen = 10_000

// NewLimiter makes a limiter. A nil store is a new [Memory]. Without a policy, or
// with two of one name, or with one that is not legal, the error wraps
// [ErrInvalid].
func NewLimiter(store Store, policies ...Policy) (*Limiter, error) {
	if store == nil {
		store = NewMemory()
	}
	if len(policies) == 0 {
		return nil, invalid("limiter without a policy: give at least one")
	}
	l := &Limiter{store: store}
	l.memory, _ = store.(*Memory)
	for _, p := range policies {
		b, err := bind(p)
		if err != nil {
			return nil, err
		}
		if p.Lease > 0 && len(policies) > 1 {
			return nil, invalid("policy %q has a lease, which is not all or nothing beside others: give it a limiter of its own", b.terms.Policy)
		}
		for _, other := range l.policies {
			if other.terms.Policy == b.terms.Policy {
				return nil, invalid("two policies named %q in one limiter: name them apart with Named", b.terms.Policy)
			}
		}
		l.policies = append(l.policies, b)
	}
	return l, nil
}

func bind(p Policy) (*bound, error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	b := &bound{Policy: p}
	ready, err := b.ready(p.Limit)
	if err != nil {
		return nil, err
	}
	b.terms, b.share = ready[0], ready[1]
	return b, nil
}

// ready gives the terms of a limit of the policy, and those of its local share.
func (b *bound) ready(limit Limit) ([2]*Terms, error) {
	if limit == b.Limit && b.terms != nil {
		return [2]*Terms{b.terms, b.share}, nil
	}
	if known, ok := b.others.Load(limit); ok {
		return known.([2]*Terms), nil
	}
	whole, err := b.Terms(limit)
	if err != nil {
		return [2]*Terms{}, fmt.Errorf("policy %q: %w", b.DisplayName(), err)
	}
	part, err := b.Terms(limit.share(b.Instances))
	if err != nil {
		return [2]*Terms{}, fmt.Errorf("policy %q, local share: %w", b.DisplayName(), err)
	}
	part.Policy = whole.Policy
	made := [2]*Terms{whole, part}
	if b.terms != nil && b.known.Add(1) <= mostChosen {
		b.others.Store(limit, made)
	}
	return made, nil
}

// share is one instance's part of a limit, rounded up.
func (l Limit) share(instances int) Limit {
	if instances > 1 && l.kind == metered {
		l.Count = ceilDiv(l.Count, int64(instances))
		l.Burst = ceilDiv(l.Burst, int64(instances))
	}
	return l
}

// WithNow makes a copy of the limiter that reads the time from now, for tests. It
// overrides the store's clock.
func (l *Limiter) WithNow(now func() time.Time) *Limiter {
	return &Limiter{store: l.store, memory: l.memory, policies: l.policies, now: now}
}

// Policies are the limiter's policies, in order.
func (l *Limiter) Policies() []Policy {
	all := make([]Policy, len(l.policies))
	for i, b := range l.policies {
		all[i] = b.Policy
	}
	return all
}

// Take asks for one unit of every policy. Keys are given in the order of the
// policies.
func (l *Limiter) Take(ctx context.Context, keys ...string) (r Result, err error) {
	err = l.take(ctx, &r, 1, keys)
	return r, err
}

// Peek tells what a request would meet, and charges nothing.
func (l *Limiter) Peek(ctx context.Context, keys ...string) (r Result, err error) {
	err = l.take(ctx, &r, 0, keys)
	return r, err
}

// TakeN asks for cost units of every policy: all or none. A cost of 0 is a peek.
func (l *Limiter) TakeN(ctx context.Context, cost int64, keys ...string) (r Result, err error) {
	err = l.take(ctx, &r, cost, keys)
	return r, err
}

func (l *Limiter) take(ctx context.Context, r *Result, cost int64, keys []string) error {
	asks, err := l.place(r, len(keys))
	if err != nil {
		return err
	}
	for i, b := range l.policies {
		asks[i].Terms, asks[i].Key, asks[i].Cost = b.terms, keys[i], cost
	}
	return l.decide(ctx, r)
}

// place makes room for the asks of n policies.
func (l *Limiter) place(r *Result, n int) ([]Ask, error) {
	if n != len(l.policies) {
		return nil, fmt.Errorf("ratelimit: %d keys for %d policies: give one for each, in order", n, len(l.policies))
	}
	if n > 1 {
		r.many = make([]Ask, n)
		return r.many, nil
	}
	return r.one[:], nil
}

// Units is one policy's part of a request given to [Limiter.Decide].
type Units struct {
	// Key is whom the request is counted against.
	Key string
	// Cost is the units asked for. 0 is a peek.
	Cost int64
	// Limit replaces the policy's limit for this request. Zero: the policy's own.
	Limit Limit
	// Skip leaves the policy out: it is reported as unlimited.
	Skip bool
}

// Decide is TakeN with a cost and a limit for each policy, in the order of the
// policies.
func (l *Limiter) Decide(ctx context.Context, units []Units) (r Result, err error) {
	err = l.DecideTo(ctx, &r, units)
	return r, err
}

// DecideTo is Decide for who has a place for the result, which is then not copied.
// The result must be zero.
func (l *Limiter) DecideTo(ctx context.Context, r *Result, units []Units) error {
	asks, err := l.place(r, len(units))
	if err != nil {
		return err
	}
	for i, b := range l.policies {
		terms, err := b.chosen(&units[i])
		if err != nil {
			*r = Result{}
			return err
		}
		asks[i].Terms, asks[i].Key, asks[i].Cost = terms, units[i].Key, units[i].Cost
	}
	return l.decide(ctx, r)
}

// chosen gives the terms that a request is decided by.
func (b *bound) chosen(u *Units) (*Terms, error) {
	limit := u.Limit
	switch {
	case u.Skip:
		limit = Unlimited()
	case limit == Limit{}:
		return b.terms, nil
	}
	ready, err := b.ready(limit)
	return ready[0], err
}
