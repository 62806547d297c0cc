package cases_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

// redis/go-redis#2339, redis/jedis#3187, rmyndharis/OpenWA PR932: a script that was sent
// again after a lost reply was charged twice.
func Test_B106_ALostReplyIsChargedOnce(t *testing.T) {
	for _, heeds := range []bool{false, true} {
		t.Run(fmt.Sprint("ContextTimeoutEnabled ", heeds), func(t *testing.T) {
			way := newProxy(t, server.Addr())
			prefix := newPrefix()
			p := closed(core.Per(1000, 366*24*time.Hour).Named("p"))
			client := redis.NewClient(&redis.Options{Addr: way.addr(), ContextTimeoutEnabled: heeds}) // retries as by default
			lossy := newLimiter(t, newRedis(t, client, redisstore.Prefix(prefix)), p)
			sound := newLimiter(t, newRedis(t, server.Client(), redisstore.Prefix(prefix)), p)
			take(t, lossy, "k")
			way.dropEvery.Store(10)
			answered := int64(1)
			for range 200 {
				if _, err := lossy.Take(ctx, "k"); err == nil {
					answered++
				}
			}
			used := 1000 - remaining(takeN(t, sound, 0, "k"))
			if used < answered || used > 201 {
				t.Errorf("201 requests, %d answered, have charged %d", answered, used)
			}
			if answered == 201 {
				t.Error("no reply was lost: this test shows nothing")
			}
		})
	}
}

// redis/go-redis#2046, redis/go-redis#1912, redis/go-redis#3497: short deadlines closed
// connections, and a storm of new ones followed.
func Test_B107_ASlowServerCausesNoStorm(t *testing.T) {
	way := newProxy(t, server.Addr())
	client := redis.NewClient(&redis.Options{Addr: way.addr(), PoolSize: 10, ContextTimeoutEnabled: true})
	l := newLimiter(t, newRedis(t, client, redisstore.Timeout(50*time.Millisecond)), core.PerHour(1_000_000).Named("p"))
	take(t, l, "k")
	way.delay.Store(int64(200 * time.Millisecond))
	way.connections.Store(0)
	var slowest atomic.Int64
	atOnce(50, func(int) {
		for range 40 {
			began := time.Now()
			if _, err := l.Take(ctx, "k"); err != nil {
				t.Error(err)
			}
			for took := int64(time.Since(began)); took > slowest.Load(); {
				slowest.Store(took)
			}
		}
	})
	if took := time.Duration(slowest.Load()); took > 500*time.Millisecond {
		t.Errorf("the slowest of 2000 decisions took %v, with a deadline of 50ms", took)
	}
	if n := way.connections.Load(); n > 500 {
		t.Errorf("%d connections were opened for 2000 requests", n)
	}
	way.delay.Store(0)
	eventually(t, "it decides by the server again", func() bool { r := take(t, l, "k"); return !r.StoreAway })
}

// redis/go-redis#1002, redis/go-redis#3289, redis/go-redis#1261: pool timeouts under
// load and after an outage.
func Test_B108_ASmallPoolServesMany(t *testing.T) {
	own := redistest.Start(t)
	client := redis.NewClient(&redis.Options{Addr: own.Addr(), PoolSize: 2})
	l := newLimiter(t, newRedis(t, client, redisstore.Timeout(5*time.Second)), closed(core.PerHour(1_000_000).Named("p")))
	atOnce(500, func(int) { take(t, l, "k") })
	before := runtime.NumGoroutine()
	impatient := newLimiter(t, redisstore.New(client, redisstore.Timeout(100*time.Millisecond)), closed(core.PerHour(1_000_000).Named("p")))
	own.Freeze()
	for range 5 {
		atOnce(100, func(int) {
			if _, err := impatient.Take(ctx, "k"); err == nil {
				t.Error("a frozen server has answered")
			}
		})
	}
	own.Thaw()
	eventually(t, "it recovers alone", func() bool { _, err := impatient.Take(ctx, "k"); return err == nil })
	eventually(t, "no goroutine is left behind", func() bool { return runtime.NumGoroutine() < before+20 })
}

// rack/rack-attack#511: errors of a server that answers were not handled as an outage
// was.
func Test_B111_EveryErrorOfTheServerIsAnOutage(t *testing.T) {
	for name, reply := range map[string]string{
		"OOM": "-OOM command not allowed when used memory > 'maxmemory'.\r\n", "LOADING": "-LOADING Redis is loading the dataset in memory\r\n",
		"MISCONF": "-MISCONF Redis is configured to save RDB snapshots\r\n", "WRONGTYPE": "-WRONGTYPE Operation against a key\r\n",
		"CLUSTERDOWN": "-CLUSTERDOWN The cluster is down\r\n", "TRYAGAIN": "-TRYAGAIN Multiple keys request during rehashing of slot\r\n",
		"BUSY": "-BUSY Redis is busy running a script\r\n", "NOAUTH": "-NOAUTH Authentication required.\r\n", "NOPERM": "-NOPERM this user has no permissions\r\n",
		"READONLY": "-READONLY You can't write against a read only replica.\r\n", "MASTERDOWN": "-MASTERDOWN Link with MASTER is down\r\n",
		"MOVED": "-MOVED 1 127.0.0.1:1\r\n", "ASK": "-ASK 1 127.0.0.1:1\r\n", "NOSCRIPT for ever": "-NOSCRIPT No matching script.\r\n",
		"an empty error": "-\r\n", "a status": "+OK\r\n", "a number": ":1\r\n", "nil": "$-1\r\n", "a nil list": "*-1\r\n", "an empty list": "*0\r\n",
		"a short list": "*2\r\n:1\r\n:1\r\n", "texts": "*6\r\n+a\r\n+b\r\n+c\r\n+d\r\n+e\r\n+f\r\n", "negative numbers": "*6\r\n:1\r\n:-1\r\n:-1\r\n:-1\r\n:-1\r\n:-1\r\n",
		"a verdict that is none": "*6\r\n:9\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n", "a failure without an end": "*6\r\n:4\r\n:99\r\n:1\r\n:1\r\n:1\r\n:1\r\n",
		"garbage": "garbage\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := newRedis(t, redis.NewClient(&redis.Options{Addr: newFake(t, reply), MaxRetries: -1}), redisstore.Timeout(100*time.Millisecond))
			for outcome, want := range map[core.StoreAway]int{core.Local: 1, core.Open: 3, core.Closed: 0} {
				l := newLimiter(t, store, core.PerHour(1).Named("p").WhenStoreAway(outcome))
				admitted := 0
				for range 3 {
					r, err := l.Take(ctx, "k")
					if (err != nil) != (outcome == core.Closed) || err != nil && !errors.Is(err, core.ErrStoreAway) || !r.StoreAway {
						t.Errorf("outcome %d: %v, store away: %v", outcome, err, r.StoreAway)
					}
					if r.Allowed {
						admitted++
					}
				}
				if admitted != want {
					t.Errorf("outcome %d: %d admitted, want %d", outcome, admitted, want)
				}
			}
		})
	}
}

// please-build/mettle PR309, zalando/skipper PR4159: clients that hung up were counted
// as failures of Redis.
func Test_B112_WhoHangsUpIsNoFault(t *testing.T) {
	way := newProxy(t, server.Addr())
	client := redis.NewClient(&redis.Options{Addr: way.addr(), ContextTimeoutEnabled: true})
	l := newLimiter(t, newRedis(t, client, redisstore.Timeout(2*time.Second)), core.Per(5000, 366*24*time.Hour).Named("p"))
	take(t, l, "k")
	way.delay.Store(int64(20 * time.Millisecond))
	var admitted atomic.Int64
	atOnce(1000, func(i int) {
		leaves, leave := context.WithCancel(ctx)
		defer time.AfterFunc(time.Duration(i%10)*time.Millisecond, leave).Stop()
		r, err := l.Take(leaves, "k")
		if err != nil && (!errors.Is(err, context.Canceled) || errors.Is(err, core.ErrStoreAway)) {
			t.Errorf("who hung up: %v", err)
		}
		if err == nil && r.Allowed {
			admitted.Add(1)
		}
		if r.StoreAway {
			t.Error("a free pass: the store was taken for away")
		}
	})
	way.delay.Store(0)
	for range 20 {
		if r := take(t, l, "k"); r.StoreAway {
			t.Fatal("those who hung up have taken the store away from the others")
		}
	}
	if used := 5000 - remaining(takeN(t, l, 0, "k")); used < admitted.Load()+21 {
		t.Errorf("%d were admitted, %d charged", admitted.Load()+21, used)
	}
}

// hiero-ledger/hiero-json-rpc-relay#5684, SweetSophia/noosphere#242: an outage meant
// unlimited traffic.
func Test_B113_AnOutageIsWhatThePolicySays(t *testing.T) {
	own := redistest.Start(t)
	for outcome, want := range map[core.StoreAway]int64{core.Local: 3, core.Open: 100, core.Closed: 0} {
		store := newRedis(t, own.Client(), redisstore.Timeout(300*time.Millisecond))
		l := newLimiter(t, store, core.PerHour(3).Named("p").WhenStoreAway(outcome))
		own.Restart()
		take(t, l, "other")
		own.Kill()
		var admitted, told atomic.Int64
		atOnce(100, func(int) {
			r, err := l.Take(ctx, "k")
			if err == nil && r.Allowed {
				admitted.Add(1)
			}
			if r.StoreAway && (err != nil) == (outcome == core.Closed) {
				told.Add(1)
			}
		})
		if admitted.Load() != want || told.Load() != 100 {
			t.Errorf("outcome %d: %d of 100 admitted, want %d; %d were told", outcome, admitted.Load(), want, told.Load())
		}
	}
}

// X2: a shard of a ring that leaves and comes back under load moves keys, whose counts
// start again; what is not decided meanwhile is the policy's StoreAway.
func Test_X2_ARingThatChanges(t *testing.T) {
	one, two := redistest.Start(t), redistest.Start(t)
	both := map[string]string{"one": one.Addr(), "two": two.Addr()}
	ring := redis.NewRing(&redis.RingOptions{Addrs: both})
	l := newLimiter(t, newRedis(t, ring), closed(core.PerHour(20).TokenBucket(20).Named("p")), closed(core.PerHour(1_000_000).Named("q")))
	var admitted [10]atomic.Int64
	var failed atomic.Int64
	stopped := make(chan struct{})
	time.AfterFunc(100*time.Millisecond, func() { ring.SetAddrs(map[string]string{"one": one.Addr()}) })
	time.AfterFunc(200*time.Millisecond, func() { ring.SetAddrs(both) })
	time.AfterFunc(400*time.Millisecond, func() { close(stopped) })
	atOnce(20, func(i int) {
		for n := i; ; n++ {
			select {
			case <-stopped:
				return
			default:
			}
			r, err := l.Take(ctx, fmt.Sprint("k", n%len(admitted)), fmt.Sprint("q", n%7))
			if err != nil {
				if failed.Add(1); !errors.Is(err, core.ErrStoreAway) {
					t.Error(err)
				}
			} else if r.Allowed {
				admitted[n%len(admitted)].Add(1)
			}
		}
	})
	for key := range admitted {
		if n := admitted[key].Load(); n < 20 || n > 41 {
			t.Errorf("key %d: %d admitted at a limit of 20 by two shards", key, n)
		}
	}
	if n := failed.Load(); n > 40 {
		t.Errorf("%d decisions failed in two changes", n)
	}
	t.Logf("%d decisions failed in two changes", failed.Load())
}

// redis/go-redis#2229, redis/go-redis#977, redis/go-redis#1643: after a failover writes
// went to a replica, and clients that read from replicas sent them there.
func Test_B105_AFailoverIsShort(t *testing.T) {
	cluster := redistest.StartCluster(t, 1)
	client := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: []string{cluster.Masters[0].Addr(), cluster.Replicas[0].Addr()}, ReadOnly: true, RouteByLatency: true, RouteRandomly: true,
	})
	l := newLimiter(t, newRedis(t, client, redisstore.Timeout(300*time.Millisecond)), closed(core.Per(100_000, 366*24*time.Hour).Named("p")))
	for i := range int64(50) {
		if left := remaining(take(t, l, "k")); left != 99_999-i {
			t.Fatalf("request %d leaves %d: a replica was asked", i+1, left)
		}
	}
	const home = 1 // the master of {k}, slot 7629
	failOver(t, cluster.Masters[home], cluster.Replicas[home])
	began := time.Now()
	eventually(t, "it decides by the new master", func() bool { _, err := l.Take(ctx, "k"); return err == nil })
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if left := remaining(takeN(t, l, 0, "k")); left > 99_999-50 {
		t.Errorf("%d remain: what was charged before is lost", left)
	}
}

// failOver makes a replica the master, and kills the old one.
func failOver(t *testing.T, master, replica *redistest.Server) {
	t.Helper()
	admin := replica.Client()
	defer admin.Close()
	looks := 0
	eventually(t, "the replica is the master", func() bool {
		if looks%200 == 0 { // again where the others did not agree in time
			admin.ClusterFailover(ctx)
		}
		looks++
		return strings.Contains(admin.Info(ctx, "replication").Val(), "role:master")
	})
	master.Kill()
}
