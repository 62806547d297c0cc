package reliability

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

var flood = flag.Int64("flood", 1_000_000, "the keys of TestAFloodOfKeys, twenty times what the store may hold")

// resident is what the process has of the system's memory, in MiB.
func resident(t *testing.T) int64 {
	t.Helper()
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kib >> 10
}

// attack asks once for each key of a range, by four callers for each processor. It gives
// how long some answers took.
func attack(l *core.Limiter, from, to int64) []time.Duration {
	var next atomic.Int64
	next.Store(from)
	var done sync.WaitGroup
	times := make([][]time.Duration, 4*runtime.GOMAXPROCS(0))
	for caller := range times {
		done.Go(func() {
			for i := next.Add(1) - 1; i < to; i = next.Add(1) - 1 {
				began := time.Now()
				_, _ = l.Take(ctx, keyOf(i)) // admitted or not, this is a stranger
				if i%64 == 0 {
					times[caller] = append(times[caller], time.Since(began))
				}
			}
		})
	}
	done.Wait()
	return slices.Concat(times...)
}

// A flood of keys that nobody has seen frees nobody who is limited, keeps nobody waiting,
// and costs no more memory than the store may hold.
func TestAFloodOfKeys(t *testing.T) {
	most := *flood / 20
	store := core.NewMemory(core.MaxKeys(most))
	defer store.Close()
	l := newLimiter(t, store, core.PerHour(3).TokenBucket(3).Named("p"))
	if n := admitted(t, l, 10, "victim"); n != 3 {
		t.Fatalf("%d admitted", n)
	}
	var asked, freed atomic.Int64
	stop := crowd(1, func(int64) {
		asked.Add(1)
		if r, err := l.Take(ctx, "victim"); err != nil || r.Allowed {
			freed.Add(1)
		}
		time.Sleep(time.Millisecond)
	})
	times := attack(l, 0, 2*most)
	full := resident(t)
	times = append(times, attack(l, 2*most, *flood)...)
	end := resident(t)
	stop()
	if freed.Load() > 0 {
		t.Errorf("the victim was free %d times of %d", freed.Load(), asked.Load())
	}
	if end > full+32 {
		t.Errorf("%d MiB when it was full, %d MiB at the end", full, end)
	}
	p50, p99 := percentile(times, 50), percentile(times, 99)
	if p99 > time.Millisecond {
		t.Errorf("p99 %v", p99)
	}
	t.Logf("%d keys by %d callers, %d held at most; %d MiB when full, %d MiB at the end; p50 %v, p99 %v, slowest %v; the victim asked %d times",
		*flood, 4*runtime.GOMAXPROCS(0), most, full, end, p50, p99, times[len(times)-1], asked.Load())
}
