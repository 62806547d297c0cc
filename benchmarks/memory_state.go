package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

var ctx = context.Background()

// room is for more keys than any scenario holds: the default bound is lower.
const room = 1 << 25

// lasting keeps a key for a minute after a single unit.
var lasting = core.Per(1, time.Minute).TokenBucket(1_000_000)

// perKey weighs the keys that are held: the text of the key counts where the
// contender keeps it.
func perKey(s settings, r *report) {
	var rows [][]string
	for _, p := range memoryPeers {
		progress("memory: bytes of a key, %s", p.name)
		size, collected := weigh(p, s.live)
		rows = append(rows, []string{entry{name: p.name, kind: p.kind}.label(), figure(size), figure(collected)})
		if p.kind == ours && p.name != logName {
			r.atMost("2", "bytes for a live key, "+p.name, 100, size, "")
		}
	}
	r.table(fmt.Sprintf("%d live keys", s.live), "The heap after a collection, key text included, and the processor time of a full collection.",
		[]string{"", "bytes for a key", "collection, ms"}, rows)
}

func weigh(p contender, keys int) (size, collected float64) {
	before := heap()
	e := p.open(few(100))
	defer e.close()
	for i := range keys {
		check(e.take(keyText(i)), "%s refused a new key", p.name)
	}
	size = (heap() - before) / float64(keys)
	for range 3 {
		collected = collection()
	}
	check(e.take(keyText(0)), "%s refused a known key", p.name) // and keeps e alive
	return size, collected
}

// perEntry weighs the log's entries beyond 100 bytes for a key.
func perEntry(s settings, r *report) {
	progress("memory: bytes of an entry of the log")
	var rows [][]string
	for _, shape := range []struct{ keys, entries int }{{1, 600_000}, {1000, 1000}} {
		if r.quick {
			shape.entries = min(shape.entries, 1000)
		}
		size := weighEntries(shape.keys, shape.entries)
		what := fmt.Sprintf("%d entries in each of %d keys", shape.entries, shape.keys)
		rows = append(rows, []string{what, figure(size)})
		r.atMost("2", "bytes for an entry of the log, "+what, 9, size, "")
	}
	r.table("The log's entries", "The heap after a collection, less 100 bytes for each key.", []string{"", "bytes for an entry"}, rows)
}

func weighEntries(keys, entries int) float64 {
	before := heap()
	store := core.NewMemory()
	l := must(core.NewLimiter(store, core.PerHour(1_000_000).SlidingWindowLog()))
	for range entries {
		for key := range keys {
			check(must(l.Take(ctx, keyText(key))).Allowed, "the log refused")
		}
	}
	size := heap() - before - 100*float64(keys)
	check(store.Len() == keys, "%d keys instead of %d", store.Len(), keys) // and keeps the store alive
	return size / float64(keys*entries)
}

// collector compares the cost of full collections with few keys and with many.
func collector(s settings, r *report) {
	progress("memory: collections with 10,000 and %d keys", s.most)
	store := core.NewMemory(core.MaxKeys(room))
	defer store.Close()
	l := must(core.NewLimiter(store, lasting))
	few := collections(l, 0, min(10_000, s.most/10))
	many := collections(l, min(10_000, s.most/10), s.most)
	check(store.Len() == s.most, "%d keys instead of %d", store.Len(), s.most)
	r.table("A full collection", "Its processor time, token bucket.", []string{"keys", "median, ms", "min–max"},
		[][]string{{"10000", figure(few.median()), few.spread()}, {strconv.Itoa(s.most), figure(many.median()), many.spread()}})
	r.atMost("2", fmt.Sprintf("a full collection with %d keys, to 10,000", s.most), 1, many.median()/few.median(), "")
}

// collections adds keys, and collects some times.
func collections(l *core.Limiter, from, to int) (all sample) {
	for ; from < to; from++ {
		l.Take(ctx, keyText(from))
	}
	runtime.GC()
	for range 15 {
		all = append(all, collection())
	}
	return all
}

// manyKeys follows one limiter from a thousand keys to ten million.
func manyKeys(s settings, r *report) {
	store := core.NewMemory(core.MaxKeys(room))
	defer store.Close()
	l := must(core.NewLimiter(store, lasting))
	plain := openFloor(plenty)
	var rows [][]string
	var first, last []sample
	held := 0
	for size := 1000; size <= s.most; size *= 10 {
		progress("memory: %d keys", size)
		for ; held < size; held++ {
			l.Take(ctx, keyText(held))
			plain.take(keyText(held))
		}
		check(store.Len() == size, "%d keys instead of %d", store.Len(), size)
		last = race(min(s.rounds, 3), 2, visits(s, size, l, plain))
		if first == nil {
			first = last
		}
		row := []string{strconv.Itoa(size)}
		for i, of := range last {
			row = append(row, figure(of.median()), figure(of.median()/first[i].median()))
		}
		rows = append(rows, row)
	}
	r.table("From few keys to many", "Random keys of all that are held, one goroutine. How a plain map grows beside it is what the caches cost.",
		[]string{"keys", "token bucket, ns", "growth", "clock and map, ns", "growth"}, rows)
	growth := last[0].median() / first[0].median() / (last[1].median() / first[1].median())
	r.atMost("3", fmt.Sprintf("growth from 1,000 to %d keys, to a plain map's", s.most), 1, growth, "")
}

// visits times decisions on random keys out of size.
func visits(s settings, size int, l *core.Limiter, plain engine) func(int) float64 {
	sample := make([]string, min(size, 1_000_000))
	for i := range sample {
		sample[i] = keyText(rand.IntN(size))
	}
	return func(contender int) float64 {
		next := 0
		return nanoseconds(s.turn, func() {
			key := sample[next]
			if next++; next == len(sample) {
				next = 0
			}
			if contender == 1 {
				plain.take(key)
				return
			}
			if r, err := l.Take(ctx, key); err != nil || !r.Allowed {
				panic("refused a known key")
			}
		})
	}
}

// expiring times each decision while a million other keys leave.
func expiring(s settings, r *report) {
	progress("memory: %d keys expiring", s.live)
	var median, tail, ratios sample
	var decisions int
	for range min(s.rounds, 3) {
		all := whileLeaving(s.live)
		median = append(median, all.quantile(0.5))
		tail = append(tail, all.quantile(0.999))
		decisions += len(all)
	}
	ratios = tail.over(median)
	r.table(fmt.Sprintf("While %d keys expire", s.live),
		fmt.Sprintf("Each of %d decisions on known keys that were taken while others left, the reading of the clock included.", decisions),
		[]string{"median, ns", "p99.9, ns", "ratio", "min–max"},
		[][]string{{figure(median.median()), figure(tail.median()), figure(ratios.median()), ratios.spread()}})
	r.atMost("3", "p99.9 to the median of a decision while keys expire", 100, ratios.median(), "")
}

// whileLeaving takes decisions until all keys of a short life have left, and keeps
// the times of those during which some did.
func whileLeaving(keys int) (all times) {
	const known = 1000
	store := core.NewMemory()
	defer store.Close()
	short := must(core.NewLimiter(store, core.Per(10, 20*time.Second).TokenBucket(10).Named("short"))) // one unit: 2 s
	long := must(core.NewLimiter(store, token(plenty).Named("long")))
	names := distinct(known)
	for _, name := range names {
		long.Take(ctx, name)
	}
	for i := range keys {
		short.Take(ctx, keyText(i))
	}
	runtime.GC()
	taken := make(times, known)
	for held := store.Len(); held > known; {
		for i, name := range names {
			began := time.Now()
			long.Take(ctx, name)
			taken[i] = time.Since(began)
		}
		if left := store.Len(); left < held {
			held = left
			all = append(all, taken...)
		}
	}
	return all
}
