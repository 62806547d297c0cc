package core

import (
	"testing"
	"time"
)

func TestTokenBucket(t *testing.T) {
	story{PerSecond(10).TokenBucket(20), []storyStep{
		{0, 20, true, 0, 0, "the whole burst"},
		{0, 1, false, 0, 100 * time.Millisecond, "a token comes every 100 ms"},
		{50 * time.Millisecond, 1, false, 0, 50 * time.Millisecond, "half of it is there"},
		{100 * time.Millisecond, 1, true, 0, 0, "on time"},
		{time.Hour, 21, false, 20, 0, "more than the burst never fits"},
		{time.Hour, 1, true, 19, 0, "full again, no fuller"},
		{time.Hour - 50*time.Millisecond, 20, false, 19, 150 * time.Millisecond, "the clock steps back: no token is made of it"},
	}}.play(t)
}

func TestTokenBucketOfAnOddRate(t *testing.T) {
	story{Per(7, 3*time.Second).TokenBucket(1), []storyStep{
		{0, 1, true, 0, 0, "one"},
		{0, 1, false, 0, 428572 * time.Microsecond, "3/7 s, rounded up"},
		{428571 * time.Microsecond, 1, false, 0, time.Microsecond, "a microsecond early"},
		{428572 * time.Microsecond, 1, true, 0, 0, "on time"},
	}}.play(t)
}
