package reliability

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/passes"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

// bound is what a policy admits of a key in a window, wherever that begins.
type bound struct {
	core.Policy
	window time.Duration
	most   int
}

// bounds are of policies for a user, a tenant and all. The user's two share a key, and
// so a slot.
var bounds = []bound{
	{closed(core.Per(20, time.Second).SlidingWindowLog().Named("user")), time.Second, 20},
	{closed(core.Per(40, 3*time.Second).TokenBucket(40).Named("user-bucket")), 3 * time.Second, 80},
	{closed(core.Per(60, time.Second).SlidingWindowLog().Named("tenant")), time.Second, 60},
	{closed(core.Per(150, time.Second).FixedWindow().Named("all")), time.Second, 300},
}

// keysOf are the keys of a request, one for each of the bounds. The first user and the
// first tenant make half of the requests.
func keysOf(i int64) []string {
	user := fmt.Sprint("user", max(0, i%20-10))
	return []string{user, user, fmt.Sprint("tenant", max(0, i%6-3)), "all"}
}

// door is a limiter and whom it has admitted.
type door struct {
	*core.Limiter
	tally

	mu     sync.Mutex
	passes map[string][]passes.Pass // by policy and key, protected by mu
}

func newDoor(t *testing.T, client redis.UniversalClient, options ...redisstore.Option) *door {
	var policies []core.Policy
	for _, b := range bounds {
		policies = append(policies, b.Policy)
	}
	options = append(options, redisstore.Timeout(300*time.Millisecond))
	return &door{Limiter: newLimiter(t, newStore(t, client, options...), policies...), tally: tally{began: time.Now()}, passes: map[string][]passes.Pass{}}
}

func (d *door) ask(i int64) {
	keys, asked := keysOf(i), time.Now()
	if !d.tally.ask(d.Limiter, keys...) {
		return
	}
	pass := passes.Pass{Asked: asked, Answered: time.Now()}
	d.mu.Lock()
	defer d.mu.Unlock()
	for policy, key := range keys {
		name := bounds[policy].Name + " " + key
		d.passes[name] = append(d.passes[name], pass)
	}
}

// judge wants no window in which more was admitted than allowed. One that was open when
// the master was killed may have begun anew.
func (d *door) judge(t *testing.T, name string, killed time.Time) {
	t.Helper()
	for _, b := range bounds {
		apart, around := 0, 0
		for key, all := range d.passes {
			if policy, _, _ := strings.Cut(key, " "); policy != b.Name {
				continue
			}
			before, after := []passes.Pass{}, []passes.Pass{}
			for _, p := range all {
				switch {
				case p.Answered.Before(killed):
					before = append(before, p)
				case p.Asked.After(killed):
					after = append(after, p)
				}
			}
			apart = max(apart, passes.Most(before, b.window), passes.Most(after, b.window))
			around = max(around, passes.Most(all, b.window))
		}
		if apart > b.most || around > 2*b.most {
			t.Errorf("%s, %s: %d admitted in a window, %d in one around the kill; allowed are %d", name, b.Name, apart, around, b.most)
		}
		if apart < b.most/3 {
			t.Errorf("%s, %s: %d admitted in a window, where %d are allowed: nothing was tried", name, b.Name, apart, b.most)
		}
		t.Logf("%s, %s: %d admitted in a window, %d in one around the kill; allowed are %d", name, b.Name, apart, around, b.most)
	}
}

// Slots move to and fro between two masters, and the third is killed, while a crowd asks
// with keys that share a slot, with others that live apart, and with one tag for all.
func TestSlotsMoveAndAMasterIsKilled(t *testing.T) {
	cluster := redistest.StartCluster(t, 1)
	doors := map[string]*door{
		"apart":    newDoor(t, cluster.Client()),
		"together": newDoor(t, cluster.Client(), redisstore.HashTag("shop")), // whose slot is of the first master, and moves
	}
	var crowds []func() int64
	for _, d := range doors {
		crowds = append(crowds, crowd(12, func(i int64) { d.ask(i); time.Sleep(2 * time.Millisecond) }))
	}
	moving, stop := context.WithCancel(ctx)
	moved := make(chan int)
	go func() { moved <- moveSlots(moving, cluster.Masters[0], cluster.Masters[2]) }()
	time.Sleep(4 * time.Second)
	killed := time.Now()
	cluster.Masters[1].Kill()
	time.Sleep(time.Second)
	for _, d := range doors {
		d.settled(t)
	}
	time.Sleep(2 * time.Second)
	for _, stop := range crowds {
		stop()
	}
	stop()
	slots := <-moved
	if slots < 20 {
		t.Errorf("%d slots have moved", slots)
	}
	for name, d := range doors {
		d.judge(t, name, killed)
		t.Logf("%s: %d admitted, %d failed, whole again %v after the kill", name, d.admitted.Load(), d.failed.Load(), d.whole(killed))
	}
	t.Logf("%d slots have moved", slots)
}

// moveSlots moves slots that have keys between two masters, in turn, as an operator does.
func moveSlots(over context.Context, one, other *redistest.Server) (moved int) {
	a, b := one.Client(), other.Client()
	defer a.Close()
	defer b.Close()
	for from, to := a, b; over.Err() == nil; from, to = to, from {
		for range 3 {
			if key := from.RandomKey(ctx).Val(); key != "" {
				moveSlot(from, to, int(from.ClusterKeySlot(ctx, key).Val()))
				moved++
			}
		}
	}
	return moved
}

func moveSlot(from, to *redis.Client, slot int) {
	source, target := from.ClusterMyID(ctx).Val(), to.ClusterMyID(ctx).Val()
	insist(to, "cluster", "setslot", slot, "importing", source)
	insist(from, "cluster", "setslot", slot, "migrating", target)
	time.Sleep(10 * time.Millisecond) // some ask for what is here, and some for what is new
	host, port, _ := strings.Cut(to.Options().Addr, ":")
	for keys := from.ClusterGetKeysInSlot(ctx, slot, 10).Val(); len(keys) > 0; keys = from.ClusterGetKeysInSlot(ctx, slot, 10).Val() {
		insist(from, append([]any{"migrate", host, port, "", 0, 1000, "replace", "keys"}, asAny(keys)...)...)
	}
	time.Sleep(10 * time.Millisecond)
	insist(to, "cluster", "setslot", slot, "node", target)
	insist(from, "cluster", "setslot", slot, "node", target)
}

func asAny(words []string) []any {
	return slices.Collect(func(yield func(any) bool) {
		for _, word := range words {
			if !yield(word) {
				return
			}
		}
	})
}

// insist repeats a command until it is done: a cluster that has lost a master refuses
// some for a while.
func insist(client *redis.Client, words ...any) {
	for end := time.Now().Add(patience); client.Do(ctx, words...).Err() != nil && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
}
