package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/core/storetest"
	"github.com/ratelimit-go/ratelimit/internal/policies"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

func TestStoreOnAClusterWithOneHashTag(t *testing.T) {
	cluster := redistest.StartCluster(t, 0)
	storetest.Run(t, func(t testing.TB) core.Store {
		return newStore(t, cluster.Client(), redisstore.HashTag("shop"))
	})
}

func TestStoreOnACluster(t *testing.T) {
	cluster := redistest.StartCluster(t, 0)
	storetest.Run(t, func(t testing.TB) core.Store { return newStore(t, cluster.Client()) })
}

// ring is a client of three servers, which know nothing of each other.
func ring(t testing.TB) *redis.Ring {
	addrs := map[string]string{}
	for i := range 3 {
		addrs[fmt.Sprint("shard", i)] = redistest.Start(t).Addr()
	}
	return redis.NewRing(&redis.RingOptions{Addrs: addrs})
}

func TestStoreOnARing(t *testing.T) {
	storetest.Run(t, func(t testing.TB) core.Store { return newStore(t, ring(t)) })
}

// Policies of one key share a slot whatever their names, so that they are decided
// together.
func TestPoliciesOfOneKeyShareASlot(t *testing.T) {
	cluster := redistest.StartCluster(t, 0)
	limiter := newLimiter(t, newStore(t, cluster.Client()), policies.OneOfEach(5, time.Hour)...)
	for _, key := range []string{"ip:10.0.0.1", "", "{", "}{", "{}a", "a{b}c{d}", strings.Repeat("k", 1000)} {
		if r := take(t, limiter, key, key, key, key, key); !r.Allowed {
			t.Errorf("%.20q: %+v", key, r)
		}
	}
}

// A request whose keys live apart is charged to all or to none, and what it reports
// is the same as if they lived together.
func TestKeysThatLiveApartAreChargedAllOrNone(t *testing.T) {
	cluster := redistest.StartCluster(t, 0)
	clients := map[string]redis.UniversalClient{"cluster": cluster.Client(), "ring": ring(t)}
	for name, client := range clients {
		t.Run(name, func(t *testing.T) {
			store := newStore(t, client)
			for _, p := range policies.OneOfEach(5, time.Hour) {
				narrow := closed(core.PerHour(2).FixedWindow().Named("narrow"))
				limiter := newLimiter(t, store, p, narrow, closed(core.PerHour(5).Named("other").AsDryRun()))
				for i := range 20 {
					user, ip := fmt.Sprint(p.Name, "user", i), fmt.Sprint(p.Name, "ip", i)
					allOrNone(t, limiter, user, ip)
				}
			}
		})
	}
}

func allOrNone(t *testing.T, limiter *core.Limiter, user, ip string) {
	t.Helper()
	for range 2 {
		if r := take(t, limiter, user, ip, "a"+user); !r.Allowed {
			t.Fatalf("%s, %s: refused: %+v", user, ip, r.Decisions())
		}
	}
	before, err := limiter.Peek(ctx, user, ip, "a"+user)
	if err != nil {
		t.Fatal(err)
	}
	r := take(t, limiter, user, ip, "a"+user)
	if r.Allowed || r.Binding != 1 || r.Delay != 0 || r.RetryAfter <= 0 {
		t.Fatalf("the third of two: %+v", r)
	}
	for i, d := range r.Decisions() {
		if d.Charged != 0 || d.Delay != 0 || d.Remaining != before.Decision(i).Remaining {
			t.Errorf("%s, %s: a refused request reports %+v, and a peek before it %+v", user, ip, d, before.Decision(i))
		}
	}
	after, err := limiter.Peek(ctx, user, ip, "a"+user)
	if err != nil {
		t.Fatal(err)
	}
	for i := range after.Decisions() {
		if after.Decision(i).Remaining != before.Decision(i).Remaining {
			t.Errorf("%s, %s: a refused request has charged policy %d", user, ip, i)
		}
	}
}

// A policy away fails the request, and what the others have charged goes back.
func TestAFailedPartGivesBackTheOthers(t *testing.T) {
	client := ring(t)
	store := newStore(t, client)
	limiter := newLimiter(t, store, closed(core.PerHour(5).FixedWindow().Named("good")), closed(core.PerHour(5).FixedWindow().Named("bad")))
	for i := range 20 {
		good, bad := fmt.Sprint("good", i), fmt.Sprint("bad", i)
		keys := client.Keys(ctx, "*"+bad+"*").Val()
		if len(keys) > 0 {
			t.Fatal("it was there before")
		}
		take(t, limiter, good, bad)
		err := client.ForEachShard(ctx, func(ctx context.Context, shard *redis.Client) error {
			for _, name := range shard.Keys(ctx, "*{"+bad+"}*").Val() {
				if err := errors.Join(shard.Del(ctx, name).Err(), shard.HSet(ctx, name, "f", "v").Err()); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := limiter.Take(ctx, good, bad); err == nil || !strings.Contains(err.Error(), "WRONGTYPE") {
			t.Fatalf("%v", err)
		}
		if r := take(t, limiter, good, "fresh"+bad); r.Decision(0).Remaining != 3 {
			t.Errorf("%s: %d remain of 5 after 2", good, r.Decision(0).Remaining)
		}
	}
}

// However many ask at once, no policy admits more than its limit.
func TestCrowdsOnAClusterAreAdmittedToTheLimit(t *testing.T) {
	cluster := redistest.StartCluster(t, 0)
	store := newStore(t, cluster.Client())
	users := closed(core.Per(30, crowdPeriod).FixedWindow().Named("user"))
	all := closed(core.Per(100, crowdPeriod).TokenBucket(100).Named("all"))
	limiter := newLimiter(t, store, users, all)
	var admitted [8]atomic.Int64
	var done sync.WaitGroup
	for i := range 64 {
		done.Go(func() {
			user := i % len(admitted)
			for range 20 {
				r, err := limiter.Take(ctx, fmt.Sprint("user", user), "all")
				if err != nil {
					t.Error(err)
					return
				}
				if r.Allowed {
					admitted[user].Add(1)
				}
			}
		})
	}
	done.Wait()
	total := int64(0)
	for user := range admitted {
		n := admitted[user].Load()
		if total += n; n > 30 {
			t.Errorf("user %d: %d admitted at a limit of 30", user, n)
		}
	}
	if total > 100 || total < 50 {
		t.Errorf("%d admitted of all, at a limit of 100", total)
	}
	r, err := limiter.Peek(ctx, "user0", "all")
	if err != nil || r.Decision(1).Remaining != 100-total {
		t.Errorf("%d remain after %d: what was refused was not given back (%v)", r.Decision(1).Remaining, total, err)
	}
}

// While slots move no decision is lost or made twice.
func TestSlotsMayMove(t *testing.T) {
	cluster := redistest.StartCluster(t, 0)
	store := newStore(t, cluster.Client())
	limiter := newLimiter(t, store, closed(core.PerDay(1_000_000).FixedWindow().Named("p")))
	const slot = 12182 // of foo
	stop := make(chan struct{})
	var taken atomic.Int64
	var done sync.WaitGroup
	for range 16 {
		done.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				r, err := limiter.Take(ctx, "foo")
				if err != nil || !r.Allowed {
					t.Errorf("%v, %+v", err, r)
					return
				}
				taken.Add(1)
			}
		})
	}
	for i := range 4 {
		moveSlot(t, cluster, slot, (2+i)%3, i%3)
	}
	close(stop)
	done.Wait()
	r, err := limiter.Peek(ctx, "foo")
	if used := 1_000_000 - r.Decision(0).Remaining; err != nil || used != taken.Load() {
		t.Errorf("%d taken, %d charged, %v", taken.Load(), used, err)
	}
}

// moveSlot moves a slot with its keys, as an operator does.
func moveSlot(t *testing.T, cluster *redistest.Cluster, slot, from, to int) {
	t.Helper()
	source, target := cluster.Masters[from].Client(), cluster.Masters[to].Client()
	defer source.Close()
	defer target.Close()
	sourceID, targetID := source.ClusterMyID(ctx).Val(), target.ClusterMyID(ctx).Val()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(target.Do(ctx, "cluster", "setslot", slot, "importing", sourceID).Err())
	must(source.Do(ctx, "cluster", "setslot", slot, "migrating", targetID).Err())
	time.Sleep(20 * time.Millisecond)
	host, port, _ := strings.Cut(cluster.Masters[to].Addr(), ":")
	for _, key := range source.ClusterGetKeysInSlot(ctx, slot, 100).Val() {
		must(source.Migrate(ctx, host, port, key, 0, time.Second).Err())
	}
	time.Sleep(20 * time.Millisecond)
	must(target.Do(ctx, "cluster", "setslot", slot, "node", targetID).Err())
	must(source.Do(ctx, "cluster", "setslot", slot, "node", targetID).Err())
}
