package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

// bench is a server of its own and what runs against it.
type bench struct {
	settings
	*report
	addr   string
	admin  *redis.Client
	peers  []contender
	opened []engine // with plenty
}

// redisGroup measures decisions in a real Redis on loopback.
func redisGroup(s settings, r *report) {
	server := must(redistest.Run())
	defer server.Stop()
	b := &bench{settings: s, report: r, addr: server.Addr(), admin: server.Client()}
	defer b.admin.Close()
	must("", smallest.Load(ctx, b.admin).Err())
	b.peers = redisPeers(b.addr)
	for _, p := range b.peers {
		b.flush()
		if p.name != getName && p.name != threeName { // the three share two of their keys
			mustLimit(p)
		}
		b.opened = append(b.opened, p.open(plenty))
	}
	r.title("Redis")
	b.oneCaller()
	b.refusedKey()
	at64 := b.underLoad(64, 3, 0)
	b.underLoad(512, 6, 0.2)
	b.hotKey()
	b.equalLoad(at64)
	for _, e := range b.opened {
		e.close()
	}
}

func (b *bench) flush() { must(b.admin.FlushAll(ctx).Result()) }

// entriesOf are the contenders of a sample each.
func (b *bench) entriesOf(samples []sample) []entry {
	entries := make([]entry, len(b.peers))
	for i, p := range b.peers {
		entries[i] = entry{name: p.name, kind: p.kind, sample: samples[i]}
	}
	return entries
}

func (b *bench) oneCaller() {
	progress("redis: one caller")
	samples := race(b.rounds, len(b.peers), func(i int) float64 {
		b.flush()
		return timeEngine(settings{turn: 2 * b.turn}, b.opened[i], true, "198.51.100.7") / 1000
	})
	entries := b.entriesOf(samples)
	for i := range entries {
		entries[i].extra = []string{b.correctness(b.peers[i])}
	}
	b.ranking("One caller, one key", "*admitted*: of 10,000 requests of 128 goroutines at a limit of 100; every other number than 100 is wrong.",
		"µs", []string{"admitted"}, entries)
	script := named(entries, smallestName).sample
	b.atMost("5", "one caller, to the smallest script", 1.05, ratio(entries, tokenName, script), "")
	b.atMost("5", "a composite of three, to one", 1.3, ratio(entries, threeName, named(entries, tokenName).sample), "")
}

func (b *bench) correctness(p contender) string {
	if p.name == getName {
		return "–"
	}
	b.flush()
	e := p.open(few(100))
	defer e.close()
	return admitted(func() bool { return e.take("one") })
}

// refusedKey counts what a client that hammers a closed limit costs Redis.
func (b *bench) refusedKey() {
	progress("redis: a refused key")
	mine, theirs := b.hammer(tokenName), b.hammer(redisRate)
	b.table("A client that hammers a closed limit", "One goroutine, as fast as it gets its answers.", []string{"", "calls of Redis a second"},
		[][]string{{"**" + tokenName + "**", figure(mine)}, {redisRate, figure(theirs)}})
	b.atMost("7", "calls of Redis a second for a refused key", 1, mine, "")
}

// hammer is the calls of the script a second, after the first refusal.
func (b *bench) hammer(name string) float64 {
	const calls = "cmdstat_evalsha"
	b.flush()
	e := b.peers[b.index(name)].open(few(1))
	defer e.close()
	check(e.take("one") && !e.take("one"), "%s does not refuse", name)
	before := b.info("commandstats", calls)
	length := 6 * b.load
	for began := time.Now(); time.Since(began) < length; {
		e.take("one")
	}
	return (b.info("commandstats", calls) - before) / length.Seconds()
}

func (b *bench) index(name string) int {
	for i, p := range b.peers {
		if p.name == name {
			return i
		}
	}
	panic("no contender " + name)
}

// info is a number in a section of INFO, the first one of its line.
func (b *bench) info(section, name string) float64 {
	text := must(b.admin.Info(ctx, section).Result())
	for line := range strings.Lines(text) {
		value, ok := strings.CutPrefix(strings.TrimSpace(line), name+":")
		if !ok {
			continue
		}
		value, _, _ = strings.Cut(strings.TrimPrefix(value, "calls="), ",")
		return must(strconv.ParseFloat(value, 64))
	}
	return 0 // a command that was never called
}

// processor is the processor time that the server has used, in microseconds.
func (b *bench) processor() float64 {
	return (b.info("cpu", "used_cpu_sys") + b.info("cpu", "used_cpu_user")) * 1e6
}

// loaded are contenders under load: the others would only make the run longer.
var loaded = []string{tokenName, "leaky bucket", "fixed window", "sliding-window counter", logName, threeName, redisRate, "ulule/limiter", smallestName}

// underLoad lets callers ask as fast as they can, on 1,000 keys. It gives
// redis_rate's decisions a second.
func (b *bench) underLoad(callers int, least, mostProcessor float64) float64 {
	progress("redis: %d callers", callers)
	used := make([]sample, len(loaded))
	rates := race(min(b.rounds, 5), len(loaded), func(i int) float64 {
		rate, processor := b.press(b.opened[b.index(loaded[i])], callers)
		used[i] = append(used[i], processor)
		return rate
	})
	base := slices.Index(loaded, redisRate)
	rows := make([][]string, len(loaded))
	for i, name := range loaded {
		rows[i] = []string{b.label(name), figure(rates[i].median()), rates[i].spread(), figure(rates[i].over(rates[base]).median()),
			figure(used[i].median()), figure(used[i].over(used[base]).median())}
	}
	b.table(fmt.Sprintf("%d callers on 1,000 keys", callers), "Client and server share the cores.",
		[]string{"", "decisions a second", "min–max", "to redis_rate", "Redis's processor time, µs a decision", "to redis_rate"}, rows)
	b.atLeast("6", fmt.Sprintf("decisions a second of %d callers, to redis_rate", callers), least, rates[0].over(rates[base]).median(), "")
	if mostProcessor > 0 {
		b.atMost("6", fmt.Sprintf("Redis's processor time at %d callers, to redis_rate", callers), mostProcessor, used[0].over(used[base]).median(), "")
	}
	return rates[base].median()
}

// hotKey lets 64 callers ask for one key, for which an instance can take units ahead.
func (b *bench) hotKey() {
	progress("redis: one hot key")
	names := []string{tokenName, leasedName, redisRate}
	rates := race(min(b.rounds, 5), len(names), func(i int) float64 {
		e := b.opened[b.index(names[i])]
		b.flush()
		decisions, took := throughput(b.load, 64, func(int) int {
			check(e.take("hot"), "refused under load")
			return 1
		})
		return float64(decisions) / took.Seconds()
	})
	rows := make([][]string, len(names))
	for i, name := range names {
		rows[i] = []string{b.label(name), figure(rates[i].median()), rates[i].spread(), figure(rates[i].over(rates[2]).median())}
	}
	b.table("64 callers on one key", "", []string{"", "decisions a second", "min–max", "to redis_rate"}, rows)
	b.atLeast("8", "decisions a second on lease, to redis_rate", 20, rates[1].over(rates[2]).median(), "")
}

func (b *bench) label(name string) string {
	return entry{name: name, kind: b.peers[b.index(name)].kind}.label()
}

// press gives the decisions a second of many callers, and Redis's processor time
// for one, in microseconds.
func (b *bench) press(e engine, callers int) (rate, used float64) {
	keys := distinct(1000)
	ask := func(int) int {
		check(e.take(keys[rand.IntN(len(keys))]), "refused under load")
		return 1
	}
	b.flush()
	throughput(b.load/5, callers, ask) // opens the connections
	before := b.processor()
	decisions, took := throughput(b.load, callers, ask)
	return float64(decisions) / took.Seconds(), (b.processor() - before) / float64(decisions)
}

// equalLoad offers the same load to all, and compares how long the answers take.
func (b *bench) equalLoad(most float64) {
	names := []string{tokenName, redisRate, smallestName}
	var rows [][]string
	for _, share := range []float64{0.02, 0.25, 0.5} {
		progress("redis: an equal load of %.0f a second", most*share)
		middles, tails := make([]sample, len(names)), make([]sample, len(names))
		race(min(b.rounds, 5), len(names), func(i int) float64 {
			b.flush()
			all := offer(b.opened[b.index(names[i])], most*share, 2*b.load)
			middles[i] = append(middles[i], all.quantile(0.5)/1000)
			tails[i] = append(tails[i], all.quantile(0.99)/1000)
			return 0
		})
		for i, name := range names {
			rows = append(rows, []string{figure(most * share), b.label(name), figure(middles[i].median()), figure(tails[i].median()), tails[i].spread()})
		}
		b.atMost("6", fmt.Sprintf("p99 at %.0f%% of what redis_rate can, to redis_rate", 100*share), 1, tails[0].over(tails[1]).median(), "")
	}
	b.table("An equal offered load", "Requests come at their times whether the earlier ones are answered or not, on 1,000 keys; a request that had to wait for its turn has waited.",
		[]string{"requests a second", "", "median, µs", "p99, µs", "min–max"}, rows)
}
