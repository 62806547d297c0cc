package core

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestChainAndLiteralDecideTheSame(t *testing.T) {
	second := Limit{Count: 10, Period: time.Second}
	queue := Limit{Count: 10, Period: time.Second, Burst: 50}
	for _, c := range []struct{ chain, literal Policy }{
		{PerSecond(10), Policy{Limit: second}},
		{PerSecond(10).SlidingWindowCounter(4), Policy{Limit: second, Intervals: 4}},
		{PerSecond(10).FixedWindow().Named("f"), Policy{Name: "f", Limit: second, Algorithm: FixedWindow}},
		{PerSecond(10).SlidingWindowLog(), Policy{Limit: second, Algorithm: SlidingWindowLog}},
		{PerSecond(10).TokenBucket(50), Policy{Limit: queue, Algorithm: TokenBucket}},
		{PerLimit(queue), Policy{Limit: queue, Algorithm: TokenBucket}},
		{PerSecond(10).LeakyBucket(50).Policing(), Policy{Limit: queue, Algorithm: LeakyBucket, Police: true}},
		{PerSecond(10).LeakyBucket(50).WaitingAtMost(time.Second), Policy{Limit: queue, Algorithm: LeakyBucket, LongestWait: time.Second}},
		{PerSecond(10).Holding(time.Second), Policy{Limit: second, OnExcess: Hold, LongestWait: time.Second}},
		{PerSecond(10).Degrading().AsDryRun(), Policy{Limit: second, OnExcess: Degrade, DryRun: true}},
		{PerSecond(10).Counting(CountFailures).WithoutKey(RefuseNoKey), Policy{Limit: second, Count: CountFailures, NoKey: RefuseNoKey}},
		{PerSecond(10).WhenStoreAway(Closed).LocalShare(3), Policy{Limit: second, StoreAway: Closed, Instances: 3}},
	} {
		if !reflect.DeepEqual(c.chain, c.literal) {
			t.Errorf("the chain makes %+v, the literal is %+v", c.chain, c.literal)
		}
		if err := c.literal.Err(); err != nil {
			t.Errorf("%+v: %v", c.literal, err)
		}
	}
}

// misuse: each is refused where it is written, by a text that names the field.
func TestMisusePanicsWithTheMend(t *testing.T) {
	for name, c := range map[string]struct {
		build func() Policy
		says  string
	}{
		"count 0":           {func() Policy { return PerMinute(0) }, "count 0"},
		"count -1":          {func() Policy { return PerMinute(-1) }, "count -1"},
		"count 2e9":         {func() Policy { return PerMinute(2e9) }, "count 2000000000"},
		"period 0":          {func() Policy { return Per(1, 0) }, "period 0s"},
		"period 60":         {func() Policy { return Per(1, 60) }, "60*time.Second"},
		"period -1s":        {func() Policy { return Per(1, -time.Second) }, "period -1s"},
		"period 2 years":    {func() Policy { return Per(1, 2*365*24*time.Hour) }, "8784h"},
		"period 1.0000005s": {func() Policy { return Per(1, time.Second+500) }, "whole microseconds"},
		"intervals 0":       {func() Policy { return PerMinute(1).SlidingWindowCounter(0) }, "intervals 0"},
		"intervals -1":      {func() Policy { return PerMinute(1).SlidingWindowCounter(-1) }, "intervals -1"},
		"intervals 101":     {func() Policy { return PerMinute(1).SlidingWindowCounter(101) }, "intervals 101"},
		"intervals 7 of 1s": {func() Policy { return PerSecond(1).SlidingWindowCounter(7) }, "does not divide"},
		"burst 0":           {func() Policy { return PerSecond(1).TokenBucket(0) }, "burst 0"},
		"burst -1":          {func() Policy { return PerSecond(1).TokenBucket(-1) }, "burst -1"},
		"burst of a year":   {func() Policy { return PerDay(1).TokenBucket(1e6) }, "50 years"},
		"queue 0":           {func() Policy { return PerSecond(1).LeakyBucket(0) }, "queue 0"},
		"burst of a window": {func() Policy { return PerSecond(1).TokenBucket(5).FixedWindow() }, "has none"},
		"log of 2e6":        {func() Policy { return PerHour(2e6).SlidingWindowLog() }, "1000000"},
		"police a token":    {func() Policy { return PerSecond(1).TokenBucket(1).Policing() }, "police"},
		"wait for a token":  {func() Policy { return PerSecond(1).TokenBucket(1).WaitingAtMost(time.Second) }, "longest wait"},
		"wait 0":            {func() Policy { return PerSecond(1).LeakyBucket(1).WaitingAtMost(0) }, "longest wait 0s"},
		"hold -1s":          {func() Policy { return PerSecond(1).Holding(-time.Second) }, "longest wait -1s"},
		"no name":           {func() Policy { return PerSecond(1).Named("") }, "name"},
		"a long name":       {func() Policy { return PerSecond(1).Named(strings.Repeat("n", 65)) }, "64"},
		"a name in Greek":   {func() Policy { return PerSecond(1).Named("όνομα") }, "ASCII"},
		"a name of lines":   {func() Policy { return PerSecond(1).Named("a\r\nb") }, "ASCII"},
		"By nothing":        {func() Policy { return PerSecond(1).By() }, "By()"},
		"By nil":            {func() Policy { return PerSecond(1).By(nil) }, "nil key"},
		"instances 0":       {func() Policy { return PerSecond(1).LocalShare(0) }, "instances 0"},
		"inexact":           {func() Policy { return Per(1e9, 366*24*time.Hour) }, "exactly"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				text, _ := recover().(string)
				if !strings.HasPrefix(text, "ratelimit: ") || !strings.Contains(text, c.says) {
					t.Errorf("panics with %q, want a text with %q", text, c.says)
				}
			}()
			t.Errorf("made %+v", c.build())
		})
	}
}

func TestPolicyFromAFileReturnsErrors(t *testing.T) {
	legal := Limit{Count: 1, Period: time.Second}
	for _, p := range []Policy{
		{}, {Limit: legal, Algorithm: 99}, {Limit: legal, NoKey: 9}, {Limit: legal, OnExcess: 9}, {Limit: legal, Count: 9},
		{Limit: legal, StoreAway: 9}, {Limit: legal, Instances: -1}, {Limit: legal, LongestWait: -1}, {Limit: legal, Algorithm: FixedWindow, Intervals: 3},
	} {
		if err := p.Err(); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", p, err)
		}
		if _, err := NewLimiter(nil, p); !errors.Is(err, ErrInvalid) {
			t.Errorf("a limiter of %+v: %v", p, err)
		}
	}
	if _, err := NewLimiter(nil); !errors.Is(err, ErrInvalid) {
		t.Errorf("a limiter of nothing: %v", err)
	}
	if _, err := NewLimiter(nil, PerSecond(1), PerSecond(1)); !errors.Is(err, ErrInvalid) {
		t.Errorf("two policies of one name: %v", err)
	}
}

func TestEveryAlgorithmIsNamedAndLettered(t *testing.T) {
	seen := map[string]bool{}
	for a := range rooms {
		r := rooms[a]
		if r.name == "" || r.letter == "" || r.arithmetic == nil || seen[r.name] || seen[r.letter] || Algorithm(a).String() != r.name {
			t.Errorf("algorithm %d: %+v", a, r)
		}
		seen[r.name], seen[r.letter] = true, true
	}
	if text := Algorithm(99).String(); text != "algorithm 99" {
		t.Errorf("an algorithm that is none: %s", text)
	}
}
