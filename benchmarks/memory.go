package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// memory measures the engines in memory.
func memory(s settings, r *report) {
	r.title("Memory")
	keys := distinct(s.keys)
	for _, p := range memoryPeers {
		if p.name != floorName {
			mustLimit(p)
		}
	}
	oneKey(s, r)
	allCores(s, r, keys)
	newKeys(s, r)
	composite(s, r)
	perKey(s, r)
	perEntry(s, r)
	collector(s, r)
	manyKeys(s, r)
	expiring(s, r)
}

// distinct are key texts, and proves that they are distinct.
func distinct(n int) []string {
	keys := make([]string, n)
	known := make(map[string]bool, n)
	for i := range keys {
		keys[i] = keyText(i)
		known[keys[i]] = true
	}
	check(len(known) == n, "%d keys, %d of them distinct", n, len(known))
	return keys
}

func keyText(i int) string { return "client-" + strconv.Itoa(i) }

// mustLimit proves that a contender limits, and each key by itself.
func mustLimit(p contender) {
	e := p.open(few(1))
	defer e.close()
	a, again, b := e.take("a"), e.take("a"), e.take("b")
	check(a && !again && b, "%s at a limit of 1: a %v, a again %v, b %v", p.name, a, again, b)
}

// admitted is how many of 10,000 requests of 128 goroutines pass a limit of 100.
func admitted(take func() bool) string {
	const requests, limit, callers = 10_000, 100, 128
	var next, passed atomic.Int64
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for next.Add(1) <= requests {
				if take() {
					passed.Add(1)
				}
			}
		})
	}
	all.Wait()
	if passed.Load() == limit {
		return "100"
	}
	return fmt.Sprintf("**%d**", passed.Load())
}

// timeEngine times takes of one engine, all of which must end alike.
func timeEngine(s settings, e engine, want bool, key string) float64 {
	wrong := 0
	ns := nanoseconds(s.turn, func() {
		if e.take(key) != want {
			wrong++
		}
	})
	check(wrong == 0, "%d decisions were not %v", wrong, want)
	return ns
}

func oneKey(s settings, r *report) {
	progress("memory: one hot key")
	const key = "198.51.100.7"
	admit := race(s.rounds, len(memoryPeers), func(i int) float64 {
		e := memoryPeers[i].open(plentyOnce)
		defer e.close()
		return timeEngine(s, e, true, key)
	})
	refuse := race(s.rounds, len(memoryPeers), func(i int) float64 {
		e := memoryPeers[i].open(few(1))
		defer e.close()
		e.take(key)
		return timeEngine(s, e, memoryPeers[i].kind == floor, key)
	})
	entries := make([]entry, len(memoryPeers))
	for i, p := range memoryPeers {
		entries[i] = entry{name: p.name, kind: p.kind, sample: admit[i], extra: []string{figure(allocations(p, key)), figure(refuse[i].median()), correctness(p)}}
	}
	r.ranking("One hot key, one goroutine", "*refused*: the time of a request that is not admitted. "+
		"*admitted*: of 10,000 requests of 128 goroutines at a limit of 100; every other number than 100 is wrong.",
		"ns", []string{"allocations", "refused, ns", "admitted"}, entries)
	r.atMost("1", "one hot key, to the fastest peer", 0.75, ratio(entries, tokenName, fastest(entries).sample), "")
	others(r, "one hot key", entries)
	r.atMost("1", "allocations for a known key, all five", 0, mostAllocations(), "")
}

// others are the targets of the other four algorithms.
func others(r *report, what string, entries []entry) {
	best := fastest(entries).sample
	for _, e := range entries {
		if e.kind == ours && e.name != tokenName {
			r.atMost("1", what+", "+e.name+", to the fastest peer", 1, e.sample.over(best).median(), "")
		}
	}
}

func allocations(p contender, key string) float64 {
	e := p.open(plentyOnce)
	defer e.close()
	return testing.AllocsPerRun(2000, func() { e.take(key) })
}

func mostAllocations() (most float64) {
	for _, p := range memoryPeers {
		if p.kind == ours {
			most = max(most, allocations(p, "198.51.100.7"))
		}
	}
	return most
}

func correctness(p contender) string {
	if p.kind == floor {
		return "–"
	}
	e := p.open(few(100))
	defer e.close()
	return admitted(func() bool { return e.take("one") })
}

func allCores(s settings, r *report, keys []string) {
	progress("memory: %d keys on all cores", len(keys))
	workers := runtime.GOMAXPROCS(0)
	walks := make([][]string, workers)
	for worker := range walks {
		walks[worker] = shuffled(keys)
	}
	samples := race(s.rounds, len(memoryPeers), func(i int) float64 {
		e := memoryPeers[i].open(plenty)
		defer e.close()
		for _, key := range keys {
			e.take(key)
		}
		runtime.GC()
		return walk(s, e, walks)
	})
	entries := make([]entry, len(memoryPeers))
	for i, p := range memoryPeers {
		entries[i] = entry{name: p.name, kind: p.kind, sample: samples[i]}
	}
	title := fmt.Sprintf("%d known keys, %d goroutines on %d cores", len(keys), workers, workers)
	r.ranking(title, "Time for a decision of all cores together.", "ns", nil, entries)
	r.atMost("1", "100,000 keys on all cores, to the fastest peer", 0.75, ratio(entries, tokenName, fastest(entries).sample), "")
	others(r, "100,000 keys on all cores", entries)
}

// shuffled are the keys in a random order, their text copied and one after the
// other. A server has a key's text at hand and newly made: the caches hold it, and
// a map that has kept another copy must compare the two.
func shuffled(keys []string) []string {
	order := rand.Perm(len(keys))
	var text strings.Builder
	for _, i := range order {
		text.WriteString(keys[i])
	}
	rest := text.String()
	copies := make([]string, len(keys))
	for at, i := range order {
		copies[at], rest = rest[:len(keys[i])], rest[len(keys[i]):]
	}
	return copies
}

// walk times decisions over all keys, a goroutine for each walk.
func walk(s settings, e engine, walks [][]string) float64 {
	at := make([]struct {
		next int
		_    [64]byte // each on a cache line of its own
	}, len(walks))
	var refused atomic.Int64
	ops, took := throughput(s.turn, len(walks), func(worker int) int {
		keys, next := walks[worker], at[worker].next
		for range batch {
			if !e.take(keys[next]) {
				refused.Add(1)
			}
			if next++; next == len(keys) {
				next = 0
			}
		}
		at[worker].next = next
		return batch
	})
	check(refused.Load() == 0, "%d decisions were refused", refused.Load())
	return float64(took.Nanoseconds()) / float64(ops)
}

func newKeys(s settings, r *report) {
	progress("memory: keys never seen before")
	keys := distinct(s.fresh)
	samples := race(s.rounds, len(memoryPeers), func(i int) float64 {
		e := memoryPeers[i].open(plenty)
		defer e.close()
		refused := 0
		began := time.Now()
		for _, key := range keys {
			if !e.take(key) {
				refused++
			}
		}
		took := time.Since(began)
		check(refused == 0, "%d new keys were refused", refused)
		return float64(took.Nanoseconds()) / float64(len(keys))
	})
	entries := make([]entry, len(memoryPeers))
	for i, p := range memoryPeers {
		entries[i] = entry{name: p.name, kind: p.kind, sample: samples[i]}
	}
	r.ranking("Keys never seen before, one goroutine", fmt.Sprintf("From empty to %d keys, growth and collections included.", len(keys)), "ns", nil, entries)
	r.atMost("1", "keys never seen before, to the fastest peer", 0.8, ratio(entries, tokenName, fastest(entries).sample), "")
	others(r, "keys never seen before", entries)
}

// composite compares three policies for a request with one.
func composite(s settings, r *report) {
	progress("memory: composite of three")
	p := token(plenty)
	samples := race(s.rounds, 2, func(i int) float64 {
		if i == 0 {
			return timeEngine(s, openPolicies(p), true, "198.51.100.7")
		}
		return timeEngine(s, openThree(p), true, "198.51.100.7")
	})
	entries := []entry{{name: "one policy", sample: samples[0]}, {name: "three policies", sample: samples[1]}}
	r.ranking("A composite of three token buckets, one goroutine", "", "ns", nil, entries)
	r.atMost("4", "a composite of three, to one", 3.2, ratio(entries, "three policies", samples[0]), "")
}

// openThree opens three policies with three keys for a request.
func openThree(p core.Policy) engine {
	store := core.NewMemory()
	l := must(core.NewLimiter(store, p.Named("ip"), p.Named("user"), p.Named("route")))
	return engine{
		take:  func(key string) bool { return must(l.Take(ctx, key, "alice", "GET /pay")).Allowed },
		close: func() { _ = store.Close() },
	}
}
