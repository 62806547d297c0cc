package reliability

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/heartbeat"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

// A crowd asks for the last unit of a key on one server, with a key on another. Who comes
// too late gives back what the other has charged. That one takes long for it, and nobody
// waits for longer than the deadline.
func TestNobodyWaitsForARefund(t *testing.T) {
	const deadline, grace = 5 * shortestDelay, 50 * time.Millisecond
	ways := []*proxy{newProxy(t, redistest.Start(t).Addr()), newProxy(t, redistest.Start(t).Addr())}
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"one": ways[0].Addr().String(), "other": ways[1].Addr().String()}})
	policies := []core.Policy{closed(core.Per(1000, long).FixedWindow().Named("wide")), closed(core.Per(1, long).FixedWindow().Named("narrow"))}
	l := newLimiter(t, newStore(t, ring, redisstore.Timeout(deadline)), policies...)
	ask := func(i int64) { _, _ = l.Take(ctx, keyOf(i), keyOf(i/4)) } // admitted, refused or not answered in time
	stop := crowd(16, ask)
	time.Sleep(100 * time.Millisecond) // all connections stand
	first := stop()
	for _, way := range ways {
		way.fault.Store(int32(slowRefunds))
	}
	heart := heartbeat.Start()
	stop = crowd(8, func(i int64) {
		began := time.Now()
		ask(first + i)
		took := time.Since(began)
		if still := heart.Missed(began, time.Now()); took > deadline+grace+2*still {
			t.Errorf("an answer took %v, of which the machine stood still for %v", took, still)
		}
	})
	time.Sleep(time.Second)
	calls := stop()
	heart.Stop()
	if held := ways[0].faults.Load() + ways[1].faults.Load(); held == 0 {
		t.Errorf("no refund in %d calls", calls)
	}
}
