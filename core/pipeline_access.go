package core

import "context"

// DecideTo is [Limiter.Decide] for who has a place for the result, which is then
// not copied. The result must be zero.
func (l *Limiter) DecideTo(ctx context.Context, r *Result, units []Units) error {
	asks, err := l.place(r, len(units))
	if err != nil {
		return err
	}
	for i, b := range l.policies {
		terms, err := b.chosen(&units[i])
		if err != nil {
			return err
		}
		asks[i].Terms, asks[i].Key, asks[i].Cost = terms, units[i].Key, units[i].Cost
	}
	return l.decide(ctx, r)
}
