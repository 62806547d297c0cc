package core

import (
	"testing"
	"time"
)

func TestFixedWindow(t *testing.T) {
	story{Per(3, 10*time.Second).FixedWindow(), []storyStep{
		{8 * time.Second, 2, true, 1, 0, "two of three"},
		{9 * time.Second, 2, false, 1, time.Second, "two do not fit, and cost nothing"},
		{9 * time.Second, 1, true, 0, 0, "one does"},
		{9999 * time.Millisecond, 1, false, 0, time.Millisecond, "the window ends in a millisecond"},
		{10 * time.Second, 3, true, 0, 0, "a new window: six in two seconds around its start"},
		{6 * time.Second, 1, false, 0, 14 * time.Second, "the clock steps back: the state's window decides"},
		{-time.Second, 1, true, 2, 0, "further back than a window: as if never seen"},
	}}.play(t)
}

func TestFixedWindowKeepsUseBelowTwiceTheLimit(t *testing.T) {
	terms, _ := Per(3, 10*time.Second).FixedWindow().Terms(Limit{Count: 3, Period: 10 * time.Second})
	kept := state{words: make([]int64, 2)}
	fixedWindow{}.owe(terms, kept, 5, 0, 1<<60)
	if got := kept.words[1]; got != 6 {
		t.Errorf("a huge debt counts %d, want twice the limit, 6", got)
	}
	fixedWindow{}.refund(terms, kept, 2, 5+terms.Period, 0)
	if got := kept.words[1]; got != 6 {
		t.Errorf("a refund of another window took something off: %d", got)
	}
}
