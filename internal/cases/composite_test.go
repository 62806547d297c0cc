package cases_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/internal/policies"
)

// unkeyed/unkey#1995, getsentry/relay#4787, milvus-io/milvus#25597,
// boinkor-net/governor#167: limits before the one that refused were charged.
func Test_B76_ARefusalChargesNobody(t *testing.T) {
	hour, minute := closed(core.PerHour(100).FixedWindow().Named("hour")), closed(core.PerMinute(2).FixedWindow().Named("minute"))
	for _, order := range [][]core.Policy{{hour, minute}, {minute, hour}} {
		for _, parallel := range []bool{false, true} {
			t.Run(fmt.Sprint(order[0].Name, " first, parallel ", parallel), func(t *testing.T) {
				onStores(t, func(t *testing.T, store core.Store) {
					l := newLimiter(t, store, order...).WithNow(newClock().now)
					var admitted atomic.Int64
					ask := func(int) {
						if r, err := l.Take(ctx, "k", "k"); err == nil && r.Allowed {
							admitted.Add(1)
						}
					}
					if parallel {
						atOnce(50, ask)
					} else {
						for i := range 50 {
							ask(i)
						}
					}
					r := takeN(t, l, 0, "k", "k")
					for _, d := range r.Decisions() {
						if d.Policy == "hour" && d.Remaining != 98 || d.Policy == "minute" && d.Remaining != 0 {
							t.Errorf("%s: %d remain", d.Policy, d.Remaining)
						}
					}
					if n := admitted.Load(); n != 2 {
						t.Errorf("%d admitted", n)
					}
				})
			})
		}
	}
}

// symfony/symfony PR65796: who was over his own limit drained everybody's.
func Test_B77_NobodyDrainsTheSharedQuota(t *testing.T) {
	for _, user := range policies.OneOfEach(1, time.Minute) {
		onStores(t, func(t *testing.T, store core.Store) {
			user.Name = "user"
			l := newLimiter(t, store, user, closed(core.PerMinute(10).Named("global"))).WithNow(newClock().now)
			for range 20 {
				take(t, l, "ann", "all")
			}
			if r := take(t, l, "bob", "all"); !r.Allowed || r.Decision(1).Remaining != 8 {
				t.Errorf("%v: another user: allowed %v, %d of the global 10 remain, want 8", user.Algorithm, r.Allowed, r.Decision(1).Remaining)
			}
		})
	}
}

// better-auth/better-auth PR7300: parts joined without a separator met.
func Test_B64_JoinedPartsDoNotMeet(t *testing.T) {
	fixed := func(part string) core.Key { return func(core.Request) (string, error) { return part, nil } }
	seen := map[string][]string{}
	for _, parts := range [][]string{
		{"a", "b:c"}, {"a:b", "c"}, {"1", "23"}, {"12", "3"}, {"1:1", "23"}, {"1", "1:23"}, {"a", "b", "c"}, {"a", "b1:c"}, {"a1:b", "c"},
		{"2:ab", "c"}, {"2:a", "bc"}, {"a\x00", "b"}, {"a", "\x00b"}, {"{a}", "b"}, {"{a", "}b"},
	} {
		var keys []core.Key
		for _, part := range parts {
			keys = append(keys, fixed(part))
		}
		key, err := core.Join(keys...)(nil)
		if err != nil || seen[key] != nil {
			t.Errorf("%q and %q are both %q, %v", parts, seen[key], key, err)
		}
		seen[key] = parts
	}
	onStores(t, func(t *testing.T, store core.Store) {
		for _, c := range []struct{ policy, key string }{{"x", "y:z"}, {"x:y", "z"}, {"x:y:z", ""}, {"x", "y"}, {"x:y", ""}, {"x}", "{y"}, {"x", "}{y"}} {
			if r := take(t, newLimiter(t, store, closed(core.PerHour(1).Named(c.policy))), c.key); !r.Allowed {
				t.Errorf("policy %q, key %q shares another's budget", c.policy, c.key)
			}
		}
	})
}

// brandur/redis-cell#54, mailgun/gubernator#37, envoyproxy/ratelimit#744,
// 3scale/APIcast#667: a changed limit met the state of the old one.
func Test_B114_AChangedLimitHoldsAtOnce(t *testing.T) {
	everywhere(t, 15, time.Minute, func(t *testing.T, s *scene) {
		decide := func(count int64, period time.Duration) core.Decision {
			t.Helper()
			limit := core.Limit{Count: count, Period: period}
			r, err := s.Decide(ctx, []core.Units{{Key: "k", Cost: 1, Limit: limit}})
			if err != nil {
				t.Fatal(err)
			}
			return r.Decision(0)
		}
		s.asks(t, 15, 0)
		if d := decide(1000, time.Minute); !d.Allowed || d.Remaining != 984 {
			t.Errorf("raised from 15 to 1000: %+v", d)
		}
		if d := decide(5, time.Minute); d.Allowed || d.Remaining != 0 || d.RetryAfter <= 0 || d.Never {
			t.Errorf("lowered to 5: %+v", d)
		}
		if d := decide(5, 10*time.Second); !d.Allowed || d.Remaining != 4 {
			t.Errorf("another period starts anew: %+v", d)
		}
		if d := decide(5, time.Minute); d.Allowed {
			t.Errorf("back again: %+v", d)
		}
		s.advance(4 * time.Minute)
		if d := decide(5, time.Minute); !d.Allowed || d.Remaining != 4 {
			t.Errorf("once the old use is over: %+v", d)
		}
	})
}
