package reliability

import (
	"flag"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

var flood = flag.Int64("flood", 1_000_000, "the keys of TestAFloodOfKeys, twenty times what the store may hold")

// resident is what the process has of the system's memory, in bytes.
func resident() int64 {
	debug.FreeOSMemory()
	values := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(values)
	return int64(values[0].Value.Uint64() - values[1].Value.Uint64())
}

// A flood of keys that nobody has seen frees nobody who is limited, and costs no more
// memory than the store may hold.
func TestAFloodOfKeys(t *testing.T) {
	most := *flood / 20
	store := core.NewMemory(core.MaxKeys(most))
	defer store.Close()
	l := newLimiter(t, store, core.PerHour(3).TokenBucket(3).Named("p"))
	if n := admitted(t, l, 10, "victim"); n != 3 {
		t.Fatalf("%d admitted", n)
	}
	var times []time.Duration
	var full int64
	for i := range *flood {
		if i == 2*most {
			full = resident()
		}
		began := time.Now()
		take(t, l, keyOf(i))
		if i%16 == 0 {
			times = append(times, time.Since(began))
		}
		if i%1000 == 0 && take(t, l, "victim").Allowed {
			t.Fatalf("the victim is free again after %d keys", i)
		}
	}
	grown := resident() - full
	if grown > 32<<20 {
		t.Errorf("%d MiB more after all keys than when it was full", grown>>20)
	}
	p99 := percentile(times, 99)
	if p99 > time.Millisecond {
		t.Errorf("p99 %v", p99)
	}
	t.Logf("%d keys, %d held at most; %d MiB when full, %+d KiB at the end; p50 %v, p99 %v, slowest %v", *flood, most, full>>20, grown>>10,
		percentile(times, 50), p99, times[len(times)-1])
}
