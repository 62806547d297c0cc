package redisstore_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

// evalshas is how often a server was asked to run a script.
func evalshas(t *testing.T, client *redis.Client) (calls int) {
	t.Helper()
	info, err := client.Info(ctx, "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	_, behind, _ := strings.Cut(info, "cmdstat_evalsha:calls=")
	_, _ = fmt.Sscan(behind, &calls) // 0 where there is none
	return calls
}

// Decisions that wait share a call of the script, and each is its own: here the
// hundredth is over a key that is not ours.
func TestDecisionsThatWaitShareCallsAndFailAlone(t *testing.T) {
	own := redistest.Start(t)
	admin := own.Client()
	defer admin.Close()
	p := closed(core.PerHour(1000).FixedWindow().Named("p"))
	limiter := newLimiter(t, newStore(t, own.Client()), p)
	take(t, limiter, "key0")
	name := admin.Keys(ctx, "*{key0}*").Val()[0]
	if err := admin.HSet(ctx, strings.Replace(name, "key0", "key99", 1), "field", "value").Err(); err != nil {
		t.Fatal(err)
	}
	before := evalshas(t, admin)
	own.Freeze()
	var done sync.WaitGroup
	errs := make([]error, 600)
	results := make([]core.Result, 600)
	for i := range errs {
		done.Go(func() { results[i], errs[i] = limiter.Take(ctx, fmt.Sprint("key", i%200)) })
	}
	time.Sleep(100 * time.Millisecond) // all have come
	own.Thaw()
	done.Wait()
	for i, err := range errs {
		foreign := i%200 == 99
		if foreign != (err != nil) || foreign && !strings.Contains(err.Error(), "WRONGTYPE") || !foreign && !results[i].Allowed {
			t.Errorf("decision %d: %v, %+v", i, err, results[i])
		}
	}
	if calls := evalshas(t, admin) - before; calls > 60 {
		t.Errorf("%d calls for 600 decisions", calls)
	}
	if r := take(t, limiter, "key1"); r.Decision(0).Remaining != 996 {
		t.Errorf("%d remain of 1000 after 4", r.Decision(0).Remaining)
	}
}
