package core

import (
	"testing"
	"time"
)

// story is what happens to one state, step by step: when, what, answer. It plays
// on the arithmetic alone; package storetest plays on whole stores.
type story struct {
	policy Policy
	steps  []storyStep
}

type storyStep struct {
	at        time.Duration // since the epoch of the story, which is a whole minute
	cost      int64
	allowed   bool
	remaining int64
	wait      time.Duration // RetryAfter of a refusal, Delay of an admission
	why       string
}

const storyStart = int64(1_700_000_040_000_000)

func (s story) play(t *testing.T) {
	t.Helper()
	terms, err := s.policy.Terms(s.policy.Limit)
	if err != nil {
		t.Fatal(err)
	}
	room := &rooms[terms.Algorithm]
	kept := state{make([]int64, room.words(terms)), &entryPool{}}
	for i, step := range s.steps {
		now := (storyStart + step.at.Microseconds()) / terms.Tick
		longest := terms.LongestWait
		if longest > 0 {
			longest /= terms.Tick
		}
		var v verdict
		v.evaluate(terms, kept, now, step.cost, longest, 0)
		wait := v.retry
		if v.allowed && step.cost > 0 {
			if v.forgotten {
				room.forget(kept)
				v.forgotten = false
			}
			v.level, _ = room.charge(terms, kept, v.at, v.level, step.cost)
			wait = v.delay
		}
		remaining := terms.Capacity
		if !v.forgotten {
			remaining, _ = terms.report(kept, &v)
		}
		if v.allowed != step.allowed || remaining != step.remaining || terms.duration(wait) != step.wait {
			t.Errorf("step %d at %v (%s): allowed %v, remaining %d, wait %v; want %v, %d, %v",
				i+1, step.at, step.why, v.allowed, remaining, terms.duration(wait), step.allowed, step.remaining, step.wait)
		}
	}
}
