package reliability

import (
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

// follow makes a server a replica, and waits until what its master is told comes to it.
// It gives the time from which on it was one.
func follow(t *testing.T, replica *redis.Client, master string) (since time.Time) {
	t.Helper()
	host, port, err := net.SplitHostPort(master)
	if err != nil {
		t.Fatal(err)
	}
	if err := replica.Do(ctx, "replicaof", host, port).Err(); err != nil {
		t.Fatal(err)
	}
	since = time.Now()
	teller := redis.NewClient(&redis.Options{Addr: master})
	defer teller.Close()
	eventually(t, "the replica has the data", patience, func() bool {
		return strings.Contains(replica.Info(ctx, "replication").Val(), "master_link_status:up")
	})
	// A master tells what is new only when its replica has reported, once a second.
	const news = "news"
	if err := teller.Set(ctx, news, since.String(), 0).Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the replica is told what is new", patience, func() bool { return replica.Get(ctx, news).Val() == since.String() })
	teller.Del(ctx, news)
	return since
}

// tally is what a crowd saw of a failover.
type tally struct {
	admitted, failed atomic.Int64
	lastFailure      atomic.Int64 // nanoseconds since the start
	began            time.Time
}

func (y *tally) ask(l *core.Limiter, keys ...string) (allowed bool) {
	r, err := l.Take(ctx, keys...)
	switch {
	case err != nil:
		y.failed.Add(1)
		y.lastFailure.Store(int64(time.Since(y.began)))
		time.Sleep(5 * time.Millisecond)
	case r.Allowed:
		y.admitted.Add(1)
	}
	return err == nil && r.Allowed
}

// whole is how long after a harm the last one failed.
func (y *tally) whole(harm time.Time) time.Duration {
	return y.began.Add(time.Duration(y.lastFailure.Load())).Sub(harm)
}

// settled waits until nobody has failed for a while.
func (y *tally) settled(t *testing.T) {
	t.Helper()
	eventually(t, "nobody fails any more", 20*time.Second, func() bool {
		return time.Since(y.began)-time.Duration(y.lastFailure.Load()) > 1500*time.Millisecond
	})
}

// mostLost bounds what a failover may lose: what a master has answered and its replica
// has not yet been sent. It is a few milliseconds of a crowd's requests.
const mostLost = 500

// A master of a cluster is killed under load. What it had charged and not yet told its
// replica is lost, and nothing else: each policy admits its limit and that.
func TestAMasterOfAClusterIsKilled(t *testing.T) {
	cluster := redistest.StartCluster(t, 1)
	l := newLimiter(t, newStore(t, cluster.Client(), redisstore.Timeout(300*time.Millisecond)),
		closed(core.Per(1_000_000, long).FixedWindow().Named("user")), closed(core.Per(1_000_000, long).TokenBucket(1_000_000).Named("all")))
	y := &tally{began: time.Now()}
	stop := crowd(16, func(i int64) { y.ask(l, keyOf(i%20), "all"); time.Sleep(time.Millisecond) })
	time.Sleep(500 * time.Millisecond)
	killed := time.Since(y.began)
	cluster.Masters[1].Kill()
	time.Sleep(time.Second)
	y.settled(t)
	calls := stop()
	users, all := int64(0), int64(0)
	for i := range int64(20) {
		r, err := l.Peek(ctx, keyOf(i), "all")
		if err != nil {
			t.Fatal(err)
		}
		users, all = users+1_000_000-r.Decision(0).Remaining, 1_000_000-r.Decision(1).Remaining
	}
	lost := max(y.admitted.Load()-users, y.admitted.Load()-all)
	if lost > mostLost {
		t.Errorf("%d were admitted, %d are charged to users and %d to all", y.admitted.Load(), users, all)
	}
	t.Logf("%d asked, %d admitted, %d failed; %d charged to users, %d to all; whole again after %v", calls, y.admitted.Load(), y.failed.Load(),
		users, all, time.Duration(y.lastFailure.Load())-killed)
}

// Sentinels promote the replica of a master that is killed under load.
func TestSentinelsPromoteAReplica(t *testing.T) {
	s := redistest.StartSentinels(t)
	l := newLimiter(t, newStore(t, s.Client(), redisstore.Timeout(300*time.Millisecond)), closed(core.Per(1_000_000, long).FixedWindow().Named("p")))
	y := &tally{began: time.Now()}
	stop := crowd(16, func(int64) { y.ask(l, "k"); time.Sleep(time.Millisecond) })
	time.Sleep(500 * time.Millisecond)
	killed := time.Since(y.began)
	s.Master.Kill()
	time.Sleep(time.Second)
	y.settled(t)
	calls := stop()
	lost := y.admitted.Load() - used(t, l, "k")
	if lost > mostLost {
		t.Errorf("%d of %d charges are lost", lost, y.admitted.Load())
	}
	t.Logf("%d asked, %d admitted, %d failed; lost %d charges; whole again after %v", calls, y.admitted.Load(), y.failed.Load(),
		max(0, lost), time.Duration(y.lastFailure.Load())-killed)
}

// A name that leads to the master now leads to another server, while the old one goes
// on as its replica and keeps its connections. They are left, however many decisions go
// together.
func TestAnOldMasterIsLeft(t *testing.T) {
	old, young := startQuick(t), startQuick(t)
	demoted, promoted := old.Client(), young.Client()
	defer demoted.Close()
	defer promoted.Close()
	follow(t, promoted, old.Addr())
	name := newProxy(t, old.Addr())
	client := redis.NewClient(&redis.Options{Addr: name.Addr().String(), PoolSize: 20})
	policy := closed(core.Per(1_000_000, long).FixedWindow().Named("p"))
	l := newLimiter(t, newStore(t, client, redisstore.Timeout(300*time.Millisecond)), policy)
	y := &tally{began: time.Now()}
	stop := crowd(100, func(int64) { y.ask(l, "k") })
	time.Sleep(500 * time.Millisecond)
	name.upstream.Store(young.Addr())
	if err := promoted.Do(ctx, "replicaof", "no", "one").Err(); err != nil {
		t.Fatal(err)
	}
	changed := time.Now()
	both := follow(t, demoted, young.Addr()).Sub(changed)
	time.Sleep(time.Second)
	y.settled(t)
	calls := stop()
	lost := y.admitted.Load() - used(t, newLimiter(t, newStore(t, young.Client()), policy), "k") // by the old master, while both were
	if lost > calls/5 {
		t.Errorf("%d of %d charges are lost", lost, y.admitted.Load())
	}
	t.Logf("%d asked, %d failed, the last one %v after the change; %d admitted, %d of them by the old master while both were, for %v", calls,
		y.failed.Load(), y.whole(changed), y.admitted.Load(), lost, both)
}

// startQuick starts a server that hands its data to a replica at once.
func startQuick(t *testing.T) *redistest.Server {
	return redistest.Start(t, "--repl-diskless-sync-delay", "0")
}
