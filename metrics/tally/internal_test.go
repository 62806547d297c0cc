package tally

import (
	"bytes"
	"hash/maphash"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/ratelimit-go/ratelimit/pipeline"
)

func TestCardinalityIsNear(t *testing.T) {
	seed := maphash.MakeSeed()
	for _, n := range []int{0, 1, 10, 1000, 5000, 20_000, 1_000_000} {
		var seen, later cardinality
		for i := range n {
			for _, c := range []*cardinality{&seen, &later}[i%2 : i%2+1] {
				c.add(maphash.Comparable(seed, i))
				c.add(maphash.Comparable(seed, i))
			}
		}
		seen.merge(&later)
		// Four standard deviations.
		if off := math.Abs(float64(seen.estimate() - int64(n))); off > .1*float64(n) {
			t.Errorf("of %d different ones it says %d", n, seen.estimate())
		}
		seen.reset()
		if got := seen.estimate(); got != 0 {
			t.Errorf("after a reset it says %d", got)
		}
	}
}

// TestAMillionKeysArePointedOutOnce, though no single minute has as many.
func TestAMillionKeysArePointedOutOnce(t *testing.T) {
	var log bytes.Buffer
	counts := New(Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	p := counts.policyOf("p")
	minute := func(number, keys int) {
		for i := range keys {
			p.seen.add(maphash.Comparable(counts.seed, [2]int{number, i}))
		}
		counts.endMinute(p, number%60 == 0)
	}
	minute(58, 800_000)
	minute(59, 100_000)
	minute(60, 0) // another hour
	minute(61, 700_000)
	if log.Len() > 0 {
		t.Fatalf("said of fewer: %s", log.String())
	}
	for number := 62; number < 66; number++ {
		minute(number, 200_000)
	}
	if n := strings.Count(log.String(), "advice=many-keys policy=p"); n != 1 {
		t.Errorf("said %d times: %s", n, log.String())
	}
	counts.Advice(func(a pipeline.Advice, n int64) {
		if want := map[pipeline.Advice]int64{pipeline.ManyKeys: 1}[a]; n != want {
			t.Errorf("%s is counted %d times, want %d", a, n, want)
		}
	})
}
