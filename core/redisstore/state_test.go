package redisstore_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/policies"
)

// stays is what PTTL says of a key without an expiry.
const stays = time.Duration(-1)

// ttls are the lives of all keys with a prefix.
func ttls(t *testing.T, client *redis.Client, prefix string) map[string]time.Duration {
	t.Helper()
	found := map[string]time.Duration{}
	keys := client.Scan(ctx, 0, prefix+":*", 1000).Iterator()
	for keys.Next(ctx) {
		life, err := client.PTTL(ctx, keys.Val()).Result()
		if err != nil {
			t.Fatal(err)
		}
		found[keys.Val()] = life
	}
	if err := keys.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestEveryKeyLeavesByItself(t *testing.T) {
	client, prefix := server.Client(), newPrefix()
	store := newStore(t, client, redisstore.Prefix(prefix))
	for _, p := range policies.OneOfEach(5, time.Hour) {
		limiter := newLimiter(t, store, p)
		var r core.Result
		for _, step := range []struct {
			name string
			act  func() error
		}{
			{"take", func() (err error) { r, err = limiter.Take(ctx, "k"); return err }},
			{"block", func() error { return limiter.Block(ctx, "", "k", time.Minute) }},
			{"refused", func() error { _, err := limiter.Take(ctx, "k"); return err }},
			{"peek", func() error { _, err := limiter.Peek(ctx, "k"); return err }},
			{"settle", func() error { return limiter.Settle(ctx, &r, 4) }},
			{"unblock", func() error { return limiter.Block(ctx, "", "k", 0) }},
			{"block a new key", func() error { return limiter.Block(ctx, "", "new", time.Minute) }},
			{"take more", func() (err error) { r, err = limiter.Take(ctx, "k"); return err }},
			{"refund", func() error { return limiter.Refund(ctx, &r) }},
		} {
			if err := step.act(); err != nil {
				t.Fatalf("%s: %s: %v", p.Name, step.name, err)
			}
			keys := ttls(t, client, prefix)
			if len(keys) == 0 {
				t.Fatalf("%s: no key after %s", p.Name, step.name)
			}
			for key, life := range keys {
				if life <= 0 || life > 3*time.Hour {
					t.Errorf("%s: after %s %s lives %v", p.Name, step.name, key, life)
				}
			}
		}
	}
}

func TestWhatCountsNothingIsDeleted(t *testing.T) {
	client, prefix := server.Client(), newPrefix()
	store := newStore(t, client, redisstore.Prefix(prefix))
	for _, p := range policies.OneOfEach(5, time.Hour) {
		limiter := newLimiter(t, store, p)
		r := take(t, limiter, "refunded")
		if err := limiter.Refund(ctx, &r); err != nil {
			t.Fatal(err)
		}
		take(t, limiter, "reset")
		if err := limiter.Reset(ctx, "", "reset"); err != nil {
			t.Fatal(err)
		}
		for _, length := range []time.Duration{time.Hour, 0} {
			if err := limiter.Block(ctx, "", "unblocked", length); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := limiter.Peek(ctx, "peeked"); err != nil {
			t.Fatal(err)
		}
		if left := ttls(t, client, prefix); len(left) > 0 {
			t.Errorf("%s: left behind: %v", p.Name, left)
		}
	}
}

// A key that somebody has made stay gets an expiry once its own would have come.
func TestAKeyWithoutExpiryHeals(t *testing.T) {
	client, prefix := server.Client(), newPrefix()
	store := newStore(t, client, redisstore.Prefix(prefix))
	const period = 50 * time.Millisecond
	for _, p := range policies.OneOfEach(5, period) {
		limiter := newLimiter(t, store, p)
		take(t, limiter, "k")
		name := prefix + ":2:{k}:" + termsID(t, p)
		if done, err := client.Persist(ctx, name).Result(); err != nil || !done {
			t.Fatalf("%s: persist %s: %v, %v", p.Name, name, done, err)
		}
		time.Sleep(2*period + 5*time.Millisecond)
		if r := take(t, limiter, "k"); r.Decision(0).Remaining != 4 {
			t.Errorf("%s: %d remain of 5 after 1", p.Name, r.Decision(0).Remaining)
		}
		if life := client.PTTL(ctx, name).Val(); life == stays {
			t.Errorf("%s: it stays", p.Name)
		}
	}
}

// The server's own clock decides here, in real time.
func TestShortPeriodsOnTheServersClock(t *testing.T) {
	for _, period := range []time.Duration{time.Millisecond, 50 * time.Millisecond, 999 * time.Millisecond} {
		client, prefix := server.Client(), newPrefix()
		store := newStore(t, client, redisstore.Prefix(prefix))
		for _, p := range policies.OneOfEach(2, period) {
			limiter := newLimiter(t, store, p)
			if r := take(t, limiter, "k"); !r.Allowed {
				t.Errorf("%v %s: the first is refused: %+v", period, p.Name, r)
			}
			for key, life := range ttls(t, client, prefix) {
				if life == stays || life > 2*period+time.Millisecond {
					t.Errorf("%v: %s lives %v", period, key, life)
				}
			}
		}
		time.Sleep(2*period + 5*time.Millisecond)
		if left := ttls(t, client, prefix); len(left) > 0 {
			t.Errorf("%v: still there: %v", period, left)
		}
	}
}

func TestGarbageCountsAsNeverSeen(t *testing.T) {
	client, prefix := server.Client(), newPrefix()
	store := newStore(t, client, redisstore.Prefix(prefix))
	garbage := []string{
		"", ":", "1", "1:", "x:y", "nan:nan", "1e999:1:1", "9007199254740992", "B", "B;", "B1:2", "Bx:y;1:1:1", "B1:1;garbage", "\x00\xff",
		strings.Repeat("9", 400) + ":1:1", strings.Repeat("1:", 5000),
	}
	for _, number := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0.5, 1 << 60} {
		text := string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(number)))
		for _, length := range []int{24, 28, 36} { // of the states
			garbage = append(garbage, strings.Repeat(text, 5)[:length], strings.Repeat(text, 5)[:length]+"B1:99999999999999999999;")
		}
	}
	for _, p := range policies.OneOfEach(5, time.Hour) {
		limiter := newLimiter(t, store, p)
		for i, text := range garbage {
			key := fmt.Sprint("g", i)
			name := prefix + ":2:{" + key + "}:" + termsID(t, p)
			if p.Algorithm == core.SlidingWindowLog {
				client.RPush(ctx, name, text)
			} else {
				client.Set(ctx, name, text, 0)
			}
			r, err := limiter.Take(ctx, key)
			if err != nil {
				t.Errorf("%s %.20q: %v", p.Name, text, err)
				continue
			}
			if !r.Allowed || r.Decision(0).Remaining < 3 || r.Decision(0).Remaining > 4 {
				t.Errorf("%s %.20q: %+v", p.Name, text, r.Decision(0))
			}
			if life := client.PTTL(ctx, name).Val(); life <= 0 {
				t.Errorf("%s %.20q: lives %v", p.Name, text, life)
			}
		}
	}
}

// TestAStateOfNoTimeCounts: what says when the key leaves is no number, or no time; the
// rest of the state counts, and the key leaves again by itself.
func TestAStateOfNoTimeCounts(t *testing.T) {
	client, prefix := server.Client(), newPrefix()
	store := newStore(t, client, redisstore.Prefix(prefix))
	for _, p := range policies.OneOfEach(5, time.Hour) {
		if p.Algorithm == core.SlidingWindowLog {
			continue // a list
		}
		limiter, name := newLimiter(t, store, p), prefix+":2:{k}:"+termsID(t, p)
		for _, number := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0.5, 1e300, 1 << 60} {
			limiter.Reset(ctx, "", "k")
			limiter.Take(ctx, "k")
			client.SetRange(ctx, name, 0, string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(number))))
			client.Persist(ctx, name)
			r, err := limiter.Take(ctx, "k")
			if err != nil || !r.Allowed || r.Decision(0).Remaining != 3 {
				t.Errorf("%s, %v: %+v, %v", p.Name, number, r.Decision(0), err)
			}
			if life := client.PTTL(ctx, name).Val(); life <= 0 || life > 3*time.Hour {
				t.Errorf("%s, %v: lives %v", p.Name, number, life)
			}
		}
	}
}

// TestALiftedBlockIsNotKept: a block keeps its key for as long as it is in force, and a
// state for no longer than itself.
func TestALiftedBlockIsNotKept(t *testing.T) {
	client, prefix := server.Client(), newPrefix()
	store := newStore(t, client, redisstore.Prefix(prefix))
	const year = 8784 * time.Hour
	for _, p := range policies.OneOfEach(5, time.Hour) {
		limiter, name := newLimiter(t, store, p), prefix+":2:{k}:"+termsID(t, p)
		r, err := limiter.Take(ctx, "k")
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			what   string
			do     func() error
			least  time.Duration
			atMost time.Duration
		}{
			{"blocked for a year", func() error { return limiter.Block(ctx, "", "k", year) }, year - time.Minute, year + time.Second},
			{"settled meanwhile", func() error { return limiter.Settle(ctx, &r, 2) }, year - time.Minute, year + time.Second},
			{"blocked for a minute", func() error { return limiter.Block(ctx, "", "k", time.Minute) }, time.Minute - time.Second, 4 * time.Hour},
			{"lifted", func() error { return limiter.Block(ctx, "", "k", 0) }, time.Minute, 4 * time.Hour},
			{"taken again", func() error { _, err := limiter.Take(ctx, "k"); return err }, time.Minute, 4 * time.Hour},
		} {
			if err := step.do(); err != nil {
				t.Fatal(err)
			}
			if life := client.PTTL(ctx, name).Val(); life < step.least || life > step.atMost {
				t.Errorf("%s, %s: lives %v, want %v to %v", p.Name, step.what, life, step.least, step.atMost)
			}
		}
	}
}

func TestAKeyThatIsNotOursIsAnError(t *testing.T) {
	client, prefix := server.Client(), newPrefix()
	store := newStore(t, client, redisstore.Prefix(prefix))
	for _, p := range policies.OneOfEach(5, time.Hour) {
		beside := closed(core.PerHour(5).Named("beside"))
		client.HSet(ctx, prefix+":2:{k}:"+termsID(t, p), "field", "value")
		limiter := newLimiter(t, store, beside, p)
		if _, err := limiter.Take(ctx, "k", "k"); err == nil || !strings.Contains(err.Error(), "WRONGTYPE") {
			t.Errorf("%s: %v", p.Name, err)
		}
		if r := take(t, limiter, "k", "other"); r.Decision(0).Remaining != 4 {
			t.Errorf("%s: the failed decision has charged the policy beside: %+v", p.Name, r.Decision(0))
		}
		if err := limiter.Reset(ctx, "beside", "k"); err != nil {
			t.Fatal(err)
		}
	}
}

// Several decisions can share one call of the script, each with its own error.
func TestDecisionsOfOneCallFailAlone(t *testing.T) {
	client := server.Client()
	defer client.Close()
	client.HSet(ctx, "lone:{x}:wrong", "field", "value")
	numbers := redisstore.Numbers(1, -1)
	for _, run := range [][]int64{{1, 1, 1}, {1, 2, 1, 1}, {1, 1, 2}} { // decisions, asks, and the cost of each
		numbers = append(numbers, redisstore.Numbers(run[:2]...)...)
		for _, cost := range run[2:] {
			numbers = append(numbers, redisstore.Numbers(1, 5, 5, 1, 3_600_000_000, 1, 0, 0, cost, -1, 0, 0)...)
		}
	}
	text, err := client.Eval(ctx, core.Script(), []string{"lone:{x}:a", "lone:{x}:b", "lone:{x}:wrong", "lone:{x}:b"}, numbers).Text()
	if err != nil {
		t.Fatal(err)
	}
	fine := string(redisstore.Numbers(1, 4))
	if !strings.HasPrefix(text, fine) {
		t.Errorf("the decision before it: %q", text)
	}
	failed, found := strings.CutPrefix(text[48:], string(redisstore.Numbers(4)))
	if !found || !strings.Contains(failed, "WRONGTYPE") {
		t.Errorf("the decision over a key that is not ours: %q", failed)
	}
	if last := text[len(text)-48:]; !strings.HasPrefix(last, string(redisstore.Numbers(1, 3))) {
		t.Errorf("the decision after it, whose key the failed one has not charged: %q", last)
	}
}

// A turn that is not the last one cannot be given back. Its limit may have been smaller
// than the one that is in force: what was used since is not cut to it.
func TestARefundThatIsNoneLeavesTheStateAsItIs(t *testing.T) {
	client, prefix := server.Client(), newPrefix()
	now := time.Now()
	p := closed(core.PerSecond(8).LeakyBucket(1).Named("p"))
	limiter := newLimiter(t, newStore(t, client, redisstore.Prefix(prefix)), p).WithNow(func() time.Time { return now })
	decide := func(limit core.Limit, cost int64) core.Result {
		r, err := limiter.Decide(ctx, []core.Units{{Key: "k", Cost: cost, Limit: limit}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := decide(p.Limit, 1)
	now = now.Add(time.Second)
	larger := core.PerSecond(1).LeakyBucket(10).Limit
	decide(larger, 10)
	if err := limiter.Refund(ctx, &first); err != nil {
		t.Fatal(err)
	}
	if r := decide(larger, 0); r.Decision(0).Remaining != 0 {
		t.Errorf("%d remain of 10 after 10", r.Decision(0).Remaining)
	}
}
