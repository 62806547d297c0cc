package redisstore

import (
	"context"
	"sync"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// group is the part of a request that lives in one place, and is decided at once.
type group struct {
	place
	asks  []core.Ask
	index []int // of its asks in the request
	err   error
}

// groupsOf splits a request by place.
func (s *Store) groupsOf(ctx context.Context, asks []core.Ask) ([]*group, error) {
	var groups []*group
	for i := range asks {
		at, err := s.placeOf(ctx, &asks[i])
		if err != nil {
			return nil, err
		}
		g := groupAt(groups, at)
		if g == nil {
			g = &group{place: at}
			groups = append(groups, g)
		}
		g.asks, g.index = append(g.asks, asks[i]), append(g.index, i)
	}
	return groups, nil
}

func groupAt(groups []*group, at place) *group {
	for _, g := range groups {
		if g.place == at {
			return g
		}
	}
	return nil
}

// takeApart decides a request whose keys live in several places. All are weighed
// first, so that a refusal charges nobody, and then each is charged. Where one then
// refuses after all, or fails, the others give back what they have charged: never
// more is admitted than any policy allows, and for a moment less can be.
func (s *Store) takeApart(ctx context.Context, now time.Time, asks []core.Ask, groups []*group) error {
	timed, cancel := context.WithTimeoutCause(ctx, s.timeout, ErrTimeout)
	defer cancel()
	admitted, err := s.everywhere(timed, weigh, now, groups)
	if admitted && asksUnits(asks) {
		if admitted, err = s.everywhere(timed, take, now, groups); !admitted {
			undone := make(chan error, 1)
			go func() { undone <- s.undo(ctx, now, groups) }()
			if err == nil {
				err = within(timed, undone)
			}
		}
	}
	if err != nil {
		return err
	}
	for _, g := range groups {
		for i, at := range g.index {
			asks[at].Answer = g.asks[i].Answer
		}
	}
	return nil
}

// within waits for an outcome, and not longer than a caller may.
func within(ctx context.Context, outcome <-chan error) error {
	select {
	case err := <-outcome:
		return err
	case <-ctx.Done():
		return explain(ctx, ctx.Err())
	}
}

// undo gives back what was charged, also when the caller has left.
func (s *Store) undo(ctx context.Context, now time.Time, groups []*group) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), s.timeout, ErrTimeout)
	defer cancel()
	each(groups, func(g *group) error { return s.giveBack(ctx, now, g) })
	return errOf(groups)
}

func asksUnits(asks []core.Ask) bool {
	for i := range asks {
		if asks[i].Cost > 0 {
			return true
		}
	}
	return false
}

// everywhere decides every group for itself, and reports whether all admit it.
func (s *Store) everywhere(ctx context.Context, v verb, now time.Time, groups []*group) (bool, error) {
	each(groups, func(g *group) error { return s.takeTogether(ctx, v, now, g.place, g.asks) })
	if err := errOf(groups); err != nil {
		return false, err
	}
	for _, g := range groups {
		if !admits(g.asks) {
			return false, nil
		}
	}
	return true, nil
}

func errOf(groups []*group) error {
	for _, g := range groups {
		if g.err != nil {
			return g.err
		}
	}
	return nil
}

// each does something for all groups at once.
func each(groups []*group, do func(*group) error) {
	var all sync.WaitGroup
	for _, g := range groups[1:] {
		all.Go(func() { g.err = do(g) })
	}
	groups[0].err = do(groups[0])
	all.Wait()
}

func admits(asks []core.Ask) bool {
	for i := range asks {
		if !asks[i].Allowed && !asks[i].Terms.DryRun {
			return false
		}
	}
	return true
}

// giveBack refunds what a group has charged, and weighs it again: it is then reported
// as allowed, and not charged.
func (s *Store) giveBack(ctx context.Context, now time.Time, g *group) error {
	var back []core.Ask
	for i := range g.asks {
		if g.asks[i].Charged > 0 {
			back = append(back, g.asks[i])
		}
	}
	if g.err != nil || len(back) == 0 {
		return nil
	}
	for i := range back {
		defer s.denials.forget(back[i].Key)
	}
	if err := s.adjustTogether(ctx, now, g.place, back, make([]int64, len(back))); err != nil {
		return err
	}
	return s.takeTogether(ctx, weigh, now, g.place, g.asks)
}
