package redisstore

import (
	"strconv"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// call is one call of the script, and its reply.
type call struct {
	args  []any // of EVALSHA
	words []int64
	err   error
}

// verb is take or weigh, which says what a take would meet and charges nothing.
type verb string

const (
	take  verb = "take"
	weigh verb = "weigh"
)

// boxed values need no memory of their own in every call.
var (
	evalsha any = "evalsha"
	digest  any = scriptHash
	clock   any = "" // the server's
)

// takeCall asks for decisions together: see script.lua. Terms are listed once, and
// decisions that differ in their keys only are one run.
func (s *Store) takeCall(v verb, now any, decisions [][]core.Ask) *call {
	keys := 0
	for _, asks := range decisions {
		keys += len(asks)
	}
	args := make([]any, 0, 12+keys+5*min(keys, 8))
	args = append(args, evalsha, digest, keys)
	for _, asks := range decisions {
		for i := range asks {
			args = append(args, asks[i].Key)
		}
	}
	var few [4]*core.Terms
	terms := few[:0]
	for _, asks := range decisions {
		for i := range asks {
			if indexOf(terms, asks[i].Terms) == 0 {
				terms = append(terms, asks[i].Terms)
			}
		}
	}
	args = append(args, string(v), now, len(terms))
	for _, t := range terms {
		args = append(args, s.lines.of(t))
	}
	for len(decisions) > 0 {
		n := alike(decisions)
		args = append(args, n, len(decisions[0]))
		for i := range decisions[0] {
			a := &decisions[0][i]
			args = append(args, indexOf(terms, a.Terms), min(a.Cost, a.Terms.Capacity+1), max(-1, min(a.LongestWait, maxTime)))
		}
		decisions = decisions[n:]
	}
	return &call{args: args}
}

// indexOf counts from 1; 0 is that they are not listed.
func indexOf(terms []*core.Terms, t *core.Terms) int {
	for i := range terms {
		if terms[i] == t {
			return i + 1
		}
	}
	return 0
}

// alike is how many decisions from the first on differ in their keys only.
func alike(decisions [][]core.Ask) int {
	n := 1
	for n < len(decisions) && sameButKeys(decisions[0], decisions[n]) {
		n++
	}
	return n
}

func sameButKeys(a, b []core.Ask) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Terms != b[i].Terms || a[i].Cost != b[i].Cost || a[i].LongestWait != b[i].LongestWait {
			return false
		}
	}
	return true
}

// header is a call of one decision by another verb, up to what it asks.
func (s *Store) header(verb string, now time.Time, asks []core.Ask) []any {
	args := make([]any, 0, 8+7*len(asks))
	args = append(args, evalsha, digest, len(asks))
	for i := range asks {
		args = append(args, asks[i].Key)
	}
	args = append(args, verb, micros(now), len(asks))
	for i := range asks {
		args = append(args, s.lines.of(asks[i].Terms))
	}
	return append(args, 1, len(asks))
}

// micros is a time that a test passes in, in microseconds.
func micros(now time.Time) any {
	if now.IsZero() {
		return clock
	}
	return min(max(now.UnixMicro(), 0), maxTime)
}

// line is terms as the script reads them.
func line(t *core.Terms) string {
	text := make([]byte, 0, 48)
	for _, n := range [...]int64{int64(t.Algorithm), t.Count, t.Capacity, t.Tick, t.Period, max(1, t.Intervals), flag(t.Police)} {
		text = append(strconv.AppendInt(text, n, 10), ' ')
	}
	return string(strconv.AppendInt(text, flag(t.DryRun), 10))
}

func flag(set bool) int64 {
	if set {
		return 1
	}
	return 0
}
