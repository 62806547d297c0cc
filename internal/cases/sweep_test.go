package cases_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// didip/tollbooth#30, didip/tollbooth#32, chmonitor/chmonitor#2467: clients who came
// once stayed for ever. sethvargo/go-limiter#54, ulule/limiter#86: and when they were
// swept, everybody waited. A real second passes here: the store's own timer sweeps.
func Test_B120_B126_ClientsWhoCameOnceLeaveUnnoticed(t *testing.T) {
	const clients = 200_000
	m := newMemory(t)
	short := newLimiter(t, m, closed(core.Per(5, 100*time.Millisecond).FixedWindow().Named("short")))
	long := newLimiter(t, m, closed(core.PerHour(1_000_000).Named("long")))
	before := heap()
	for i := range clients {
		take(t, short, fmt.Sprint(i))
	}
	var waits []time.Duration
	for end := time.Now().Add(patience); m.Len() > 1 && time.Now().Before(end); time.Sleep(50 * time.Microsecond) {
		began := time.Now()
		take(t, long, "k")
		waits = append(waits, time.Since(began))
	}
	if n := m.Len(); n != 1 {
		t.Errorf("%d keys are held, want the one in use", n)
	}
	// The bound is for a busy machine with the race detector: a lock held for the whole
	// sweep would show all the same.
	slices.Sort(waits)
	if slow := waits[len(waits)*99/100]; len(waits) > 100 && slow > 20*time.Millisecond {
		t.Errorf("while %d keys leave, one in a hundred of %d decisions takes %v", clients, len(waits), slow)
	}
	if grown := heap() - before; grown > 4<<20 {
		t.Errorf("%d bytes are still held", grown)
	}
	runtime.KeepAlive(m)
}

func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
