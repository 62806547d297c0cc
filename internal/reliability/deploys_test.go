package reliability

import (
	"strings"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/internal/policies"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

// While a deploy rolls, two versions of a policy ask for one key in turn. Each counts
// for itself, as if the other were not there.
func TestTwoVersionsOfAPolicyDoNotMisreadEachOther(t *testing.T) {
	own := redistest.Start(t)
	base := core.Per(6, 12*time.Hour).Named("p")
	for name, versions := range map[string][2]core.Policy{
		"period":       {base, core.Per(4, 24*time.Hour).Named("p")},
		"intervals":    {base.SlidingWindowCounter(6), base.SlidingWindowCounter(12)},
		"log":          {base, base.SlidingWindowLog()},
		"log, counter": {base.SlidingWindowLog(), base.SlidingWindowCounter(4)},
		"window":       {base.FixedWindow(), base},
		"bucket":       {base.TokenBucket(6), base.LeakyBucket(6)},
		"bucket, log":  {base.TokenBucket(6), base.SlidingWindowLog()},
		"window, log":  {base.FixedWindow(), base.SlidingWindowLog()},
	} {
		t.Run(name, func(t *testing.T) {
			store := newStore(t, own.Client())
			var limiters [2]*core.Limiter
			var counts [2]int64
			for i, p := range versions {
				limiters[i] = newLimiter(t, store, closed(p))
			}
			for range 20 {
				for i, l := range limiters {
					counts[i] += admitted(t, l, 1, name)
				}
			}
			for i, p := range versions {
				if counts[i] != p.Limit.Count {
					t.Errorf("version %d admits %d, want %d", i, counts[i], p.Limit.Count)
				}
			}
		})
	}
}

// Another count is the same policy: what was used stays used, up and down.
func TestTwoCountsOfAPolicyShareWhatWasUsed(t *testing.T) {
	own := redistest.Start(t)
	for i, p := range policies.OneOfEach(6, 12*time.Hour) {
		more := policies.OneOfEach(9, 12*time.Hour)[i]
		store := newStore(t, own.Client())
		old, young := newLimiter(t, store, p), newLimiter(t, store, more)
		if n := admitted(t, old, 10, "k"); n != 6 {
			t.Errorf("%s: the old admits %d, want 6", p.Name, n)
		}
		if n := admitted(t, young, 10, "k"); n != 3 {
			t.Errorf("%s: then the young admits %d, want 3", p.Name, n)
		}
		if n := admitted(t, old, 10, "k"); n != 0 {
			t.Errorf("%s: and the old %d again", p.Name, n)
		}
	}
}

// The format of what is stored is a part of its name: another format's states are
// neither read nor touched.
func TestTwoFormatsOfStateDoNotMisreadEachOther(t *testing.T) {
	own := redistest.Start(t)
	admin := own.Client()
	defer admin.Close()
	for _, p := range policies.OneOfEach(6, 12*time.Hour) {
		l := newLimiter(t, newStore(t, own.Client()), p)
		take(t, l, "k")
		names := admin.Keys(ctx, "*").Val()
		if len(names) != 1 {
			t.Fatalf("%s: keys are %q", p.Name, names)
		}
		prefix, rest, found := strings.Cut(names[0], ":2:")
		if !found {
			t.Fatalf("%s: %q has no format in it", p.Name, names[0])
		}
		next := prefix + ":3:" + rest
		if err := admin.Set(ctx, next, "9;9;9;9", 0).Err(); err != nil {
			t.Fatal(err)
		}
		if n := admitted(t, l, 10, "k"); n != 5 {
			t.Errorf("%s: %d admitted beside the other format, want 5", p.Name, n)
		}
		if text := admin.Get(ctx, next).Val(); text != "9;9;9;9" {
			t.Errorf("%s: the other format's state is now %q", p.Name, text)
		}
		if err := admin.FlushAll(ctx).Err(); err != nil {
			t.Fatal(err)
		}
	}
}
