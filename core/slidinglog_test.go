package core

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestSlidingWindowLog(t *testing.T) {
	story{Per(3, 10*time.Second).SlidingWindowLog(), []storyStep{
		{0, 1, true, 2, 0, "the first"},
		{4 * time.Second, 2, true, 0, 0, "two more"},
		{9 * time.Second, 1, false, 0, time.Second, "the first leaves at 10 s"},
		{9 * time.Second, 2, false, 0, 5 * time.Second, "two have left at 14 s"},
		{10 * time.Second, 1, true, 0, 0, "the first is gone to the microsecond"},
		{14 * time.Second, 2, true, 0, 0, "no three in any ten seconds"},
		{12 * time.Second, 1, false, 0, 8 * time.Second, "the clock steps back: the newest entry's time decides, at 20 s one leaves"},
	}}.play(t)
}

// TestEntries compares the chunked entries with a plain slice under random use.
func TestEntries(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	pool := &entryPool{}
	kept := [2]state{{make([]int64, entryWords), pool}, {make([]int64, entryWords), pool}}
	var want [2][]int64
	for now := int64(0); now < 20_000; now++ {
		i := random.IntN(2)
		switch n := random.Int64N(40); random.IntN(4) {
		case 0, 1:
			kept[i].push(now, n)
			want[i] = append(want[i], slices.Repeat([]int64{now}, int(n))...)
		case 2:
			n = min(n, int64(len(want[i])))
			kept[i].drop(n)
			want[i] = want[i][n:]
		case 3:
			want[i] = removed(want[i], now-30, now-10, n)
			kept[i].remove(now-30, now-10, n)
		}
		compareEntries(t, kept[i], want[i])
	}
	kept[0].drop(maxCount)
	kept[1].drop(maxCount)
	if pool.live != 0 || pool.pages != nil {
		t.Errorf("%d chunks are left of no entries", pool.live)
	}
}

func removed(entries []int64, low, high, n int64) []int64 {
	from, _ := slices.BinarySearch(entries, low)
	to, _ := slices.BinarySearch(entries, high)
	to = min(to, from+int(n))
	return slices.Concat(entries[:from], entries[to:])
}

func compareEntries(t *testing.T, kept state, want []int64) {
	t.Helper()
	if kept.len() != int64(len(want)) {
		t.Fatalf("%d entries, want %d", kept.len(), len(want))
	}
	if len(want) == 0 {
		return
	}
	middle := len(want) / 2
	before, _ := slices.BinarySearch(want, want[middle])
	if kept.newest() != want[len(want)-1] || kept.words[oldestEntry] != want[0] || kept.entry(0) != want[0] || kept.entry(int64(middle)) != want[middle] ||
		kept.before(want[middle]) != int64(before) || kept.before(want[len(want)-1]+1) != int64(len(want)) {
		t.Fatalf("entries differ from %v", want)
	}
}
