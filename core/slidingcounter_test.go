package core

import (
	"testing"
	"time"
)

func TestSlidingWindowCounter(t *testing.T) {
	story{Per(10, 10*time.Second), []storyStep{
		{0, 8, true, 2, 0, "eight in the first interval"},
		{10 * time.Second, 3, false, 2, 1250 * time.Millisecond, "all eight still weigh; three fit once they weigh seven"},
		{11250 * time.Millisecond, 3, true, 0, 0, "now they do"},
		{15 * time.Second, 3, true, 0, 0, "half of eight and three and three"},
		{14 * time.Second, 1, false, 0, 2250 * time.Millisecond, "a step back inside the interval changes only where it stands: seven must become five minus"},
	}}.play(t)
}

func TestSlidingWindowCounterInIntervals(t *testing.T) {
	story{Per(10, 10*time.Second).SlidingWindowCounter(10), []storyStep{
		{0, 10, true, 0, 0, "all at once"},
		{9999 * time.Millisecond, 1, false, 0, 101 * time.Millisecond, "the interval leaves bit by bit from 10 s"},
		{10100 * time.Millisecond, 1, true, 0, 0, "a tenth of it has"},
		{11 * time.Second, 9, true, 0, 0, "all of it has"},
	}}.play(t)
}
