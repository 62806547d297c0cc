// Command benchmarks measures this library beside what a user would pick instead,
// on the same work in the same run, and writes RESULTS.md.
//
//	go run .                   the whole, some minutes
//	go run . -quick            a smoke run: everything once, figures of no worth
//	go run . -only memory      one group: memory, redis or http
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

// settings is how much work a run does.
type settings struct {
	rounds int           // every contender runs once in each, in turn
	turn   time.Duration // the length of one contender's turn
	keys   int           // known keys in use together
	fresh  int           // keys never seen before, for each turn
	live   int           // keys that are held at once
	most   int           // the most keys that are held at once
	load   time.Duration // the length of one turn against Redis under load
}

var full = settings{
	rounds: 7, turn: 120 * time.Millisecond,
	keys: 100_000, fresh: 300_000, live: 1_000_000, most: 10_000_000,
	load: 500 * time.Millisecond,
}

var quick = settings{
	rounds: 1, turn: 4 * time.Millisecond,
	keys: 5_000, fresh: 10_000, live: 20_000, most: 50_000,
	load: 20 * time.Millisecond,
}

var groups = []struct {
	name string
	run  func(settings, *report)
}{
	{"memory", memory},
	{"redis", redisGroup},
	{"http", httpGroup},
}

func main() {
	rounds := flag.Int("rounds", 0, "rounds of every comparison (default 7, with -quick 1)")
	smoke := flag.Bool("quick", false, "do everything once and little of it: shows that it works, its figures say nothing")
	only := flag.String("only", "", "run one group: memory, redis or http")
	out := flag.String("out", "RESULTS.md", "where the results go")
	flag.Parse()

	s := full
	if *smoke {
		s = quick
	}
	if *rounds > 0 {
		s.rounds = *rounds
	}
	if err := run(s, *smoke, *only, *out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(s settings, smoke bool, only, out string) error {
	r := &report{settings: s, quick: smoke, began: time.Now()}
	ran := false
	for _, group := range groups {
		if only == "" || only == group.name {
			group.run(s, r)
			ran = true
		}
	}
	if !ran {
		return fmt.Errorf("-only %s: give memory, redis or http", only)
	}
	fmt.Fprintf(os.Stderr, "done in %v\n", time.Since(r.began).Round(time.Second))
	return os.WriteFile(out, []byte(r.markdown()), 0o644)
}

func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05 ")+format+"\n", args...)
}

// must ends the program: a benchmark that could not do its work has no figure.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func check(ok bool, format string, args ...any) {
	if !ok {
		panic(fmt.Sprintf(format, args...))
	}
}
