package reliability

import (
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/internal/policies"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

// The server's clock jumps under a key that has used its limit. Whoever waits is let
// in again after twice the key's reset time at the latest, and a jump back admits one
// capacity more at most.
func TestTheServersClockJumps(t *testing.T) {
	own, clock := redistest.StartWithClock(t)
	const count, period = 5, time.Minute
	for name, jumps := range map[string][]time.Duration{
		"a second back": {-time.Second}, "half a period back": {-30 * time.Second}, "an hour back": {-time.Hour},
		"two days back": {-48 * time.Hour}, "a year forward and back": {8784 * time.Hour, -8784 * time.Hour},
		"an hour forward and back": {time.Hour, -time.Hour}, "to and fro": {-20 * time.Second, 20 * time.Second, -20 * time.Second, 20 * time.Second},
	} {
		for _, p := range policies.OneOfEach(count, period) {
			t.Run(name+" "+p.Name, func(t *testing.T) {
				l := newLimiter(t, newStore(t, own.Client()), p)
				key, ahead := t.Name(), time.Duration(0)
				defer clock.Set(0)
				if n := admitted(t, l, 10, key); n != count {
					t.Fatalf("%d admitted at first", n)
				}
				longest := 2 * resetOf(p, period)
				for _, jump := range jumps {
					ahead += jump
					clock.Set(ahead)
					n := admitted(t, l, 10, key)
					if jump < 0 && n > count {
						t.Errorf("%d admitted after a jump of %v, want %d at most", n, jump, count)
					}
					if after := peek(t, l, key).ResetAfter; after > longest {
						t.Errorf("after a jump of %v it is reset in %v, want %v at most", jump, after, longest)
					}
				}
				clock.Set(ahead + longest)
				if n := admitted(t, l, 10, key); n != count {
					t.Errorf("%d admitted %v later", n, longest)
				}
			})
		}
	}
}

// resetOf is the longest time after which a key is as if never seen: the counter still
// weighs an interval that is over.
func resetOf(p core.Policy, period time.Duration) time.Duration {
	if p.Algorithm == core.SlidingWindowCounter {
		return 2 * period
	}
	return period
}

func peek(t *testing.T, l *core.Limiter, key string) core.Decision {
	t.Helper()
	r, err := l.Peek(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	return r.Decision(0)
}

// A replica whose clock is an hour behind is promoted.
func TestAReplicaWithAClockBehindIsPromoted(t *testing.T) {
	const count = 5
	behind, clock := redistest.StartWithClock(t)
	master := startQuick(t)
	clock.Set(-time.Hour)
	replica := behind.Client()
	defer replica.Close()
	follow(t, replica, master.Addr())
	var before []*core.Limiter
	for _, p := range policies.OneOfEach(count, time.Minute) {
		l := newLimiter(t, newStore(t, master.Client()), p)
		if n := admitted(t, l, 10, "k"); n != count {
			t.Fatalf("%s: %d admitted at first", p.Name, n)
		}
		before = append(before, l)
	}
	eventually(t, "the replica has all", patience, func() bool { return replica.DBSize(ctx).Val() == int64(len(before)) })
	if err := replica.Do(ctx, "replicaof", "no", "one").Err(); err != nil {
		t.Fatal(err)
	}
	for _, p := range policies.OneOfEach(count, time.Minute) {
		l := newLimiter(t, newStore(t, behind.Client()), p)
		if n := admitted(t, l, 10, "k"); n > count {
			t.Errorf("%s: %d admitted after the promotion, want %d at most", p.Name, n, count)
		}
		if d := peek(t, l, "k"); d.ResetAfter > 4*time.Minute {
			t.Errorf("%s: it is reset in %v", p.Name, d.ResetAfter)
		}
	}
}
