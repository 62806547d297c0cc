package core

import (
	"testing"
	"time"
)

func TestLeakyBucket(t *testing.T) {
	story{PerSecond(10).LeakyBucket(3), []storyStep{
		{0, 1, true, 2, 0, "nobody before it"},
		{0, 1, true, 1, 100 * time.Millisecond, "one before it"},
		{0, 1, true, 0, 200 * time.Millisecond, "two before it"},
		{0, 1, false, 0, 100 * time.Millisecond, "the queue is full"},
		{100 * time.Millisecond, 1, true, 0, 200 * time.Millisecond, "one has left"},
		{50 * time.Millisecond, 1, false, 0, 150 * time.Millisecond, "the clock steps back"},
	}}.play(t)
}

func TestLeakyBucketWithALongestWait(t *testing.T) {
	story{PerSecond(10).LeakyBucket(50).WaitingAtMost(100 * time.Millisecond), []storyStep{
		{0, 1, true, 49, 0, ""},
		{0, 1, true, 48, 100 * time.Millisecond, "as long as it may be"},
		{0, 1, false, 48, 100 * time.Millisecond, "200 ms are too long, though there is room"},
		{100 * time.Millisecond, 1, true, 48, 100 * time.Millisecond, "now it is not"},
	}}.play(t)
}

func TestLeakyBucketPolices(t *testing.T) {
	story{PerSecond(10).LeakyBucket(2).Policing(), []storyStep{
		{0, 2, true, 0, 0, "no delay"},
		{0, 1, false, 0, 100 * time.Millisecond, "full"},
		{100 * time.Millisecond, 1, true, 0, 0, ""},
	}}.play(t)
}
