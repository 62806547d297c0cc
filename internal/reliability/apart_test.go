package reliability

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/heartbeat"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

// A crowd asks for the last unit of a key on one server, with a key on another, and both
// servers are slow. Who comes too late gives back what the other one has charged, and
// leaves at the deadline, though that is not done by then.
func TestNobodyWaitsForARefund(t *testing.T) {
	const deadline, grace = 5 * shortestDelay / 2, 50 * time.Millisecond // time for two commands in turn
	ways := []*proxy{newProxy(t, redistest.Start(t).Addr()), newProxy(t, redistest.Start(t).Addr())}
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"one": ways[0].Addr().String(), "other": ways[1].Addr().String()}})
	l := newLimiter(t, newStore(t, ring, redisstore.Timeout(deadline)),
		closed(core.Per(1000, long).FixedWindow().Named("wide")), closed(core.Per(1, long).FixedWindow().Named("narrow")))
	ask := func(i int64) { _, _ = l.Take(ctx, keyOf(i), keyOf(i/4)) } // admitted, refused or not answered in time
	stop := crowd(16, ask)
	time.Sleep(100 * time.Millisecond) // all connections stand
	first := stop()
	for _, way := range ways {
		way.fault.Store(int32(delayCommands))
	}
	heart := heartbeat.Start()
	var left atomic.Int64
	stop = crowd(8, func(i int64) {
		began := time.Now()
		ask(first + i)
		took := time.Since(began)
		if took >= deadline {
			left.Add(1)
		}
		if still := heart.Missed(began, time.Now()); took > deadline+grace+2*still {
			t.Errorf("an answer took %v, of which the machine stood still for %v", took, still)
		}
	})
	time.Sleep(time.Second)
	calls := stop()
	heart.Stop()
	if left.Load() == 0 {
		t.Errorf("nobody in %d calls had to wait for a refund", calls)
	}
	t.Logf("%d of %d left at the deadline of %v", left.Load(), calls, deadline)
}
