package redisstore_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/core/storetest"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

// startCluster starts a cluster of one node, which refuses what a larger one would.
func startCluster(t *testing.T) *redistest.Server {
	t.Helper()
	own := redistest.Start(t, "--cluster-enabled", "yes")
	admin := own.Client()
	defer admin.Close()
	if err := admin.ClusterAddSlotsRange(ctx, 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		info, err := admin.ClusterInfo(ctx).Result()
		if strings.Contains(info, "cluster_state:ok") {
			return own
		}
		if time.Now().After(end) {
			t.Fatalf("the cluster does not form: %v, %s", err, info)
		}
	}
}

func TestStoreOnAClusterWithOneHashTag(t *testing.T) {
	own := startCluster(t)
	storetest.Run(t, func(t testing.TB) core.Store {
		client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{own.Addr()}})
		return newStore(t, client, redisstore.HashTag("shop"))
	})
}

// Policies of one key share a slot whatever their names, so that they are decided
// together.
func TestPoliciesOfOneKeyShareASlot(t *testing.T) {
	own := startCluster(t)
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{own.Addr()}})
	store := newStore(t, client)
	limiter := newLimiter(t, store, oneOfEach(5, time.Hour)...)
	for _, key := range []string{"ip:10.0.0.1", "", "{", "}{", "{}a", "a{b}c{d}", strings.Repeat("k", 1000)} {
		if r := take(t, limiter, key, key, key, key, key); !r.Allowed {
			t.Errorf("%.20q: %+v", key, r)
		}
	}
}
