package headers

import (
	"context"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// answers is a store that gives the answers it is made of, so that a table can
// say what was decided.
type answers []core.Answer

func (a answers) Take(_ context.Context, _ time.Time, asks []core.Ask) error {
	for i := range asks {
		asks[i].Answer = a[i]
	}
	return nil
}

func (answers) Adjust(context.Context, time.Time, []core.Ask, []int64) error { return nil }
func (answers) Reset(context.Context, *core.Terms, string) error             { return nil }
func (answers) Block(context.Context, time.Time, *core.Terms, string, time.Duration) error {
	return nil
}

// decided is a policy and what was decided by it.
type decided struct {
	policy core.Policy
	answer core.Answer
}

func admitted(p core.Policy, remaining int64, reset time.Duration) decided {
	return decided{p, core.Answer{Allowed: true, Remaining: remaining, ResetAfter: reset}}
}

func refused(p core.Policy, remaining int64, wait, reset time.Duration) decided {
	return decided{p, core.Answer{Remaining: remaining, RetryAfter: wait, ResetAfter: reset}}
}

func never(p core.Policy, remaining int64, reset time.Duration) decided {
	return decided{p, core.Answer{Never: true, Remaining: remaining, ResetAfter: reset}}
}

func unlimited() decided {
	return decided{policy: core.PerLimit(core.Unlimited()).Named("free")}
}

func blocked() decided { return never(core.PerLimit(core.Blocked()).Named("blocked"), 0, 0) }

// result is what a limiter makes of the decisions.
func result(t testing.TB, all ...decided) *core.Result {
	t.Helper()
	var store answers
	var policies []core.Policy
	for _, d := range all {
		policies = append(policies, d.policy)
		if !d.policy.Limit.IsUnlimited() { // the store is not asked about those
			store = append(store, d.answer)
		}
	}
	limiter, err := core.NewLimiter(store, policies...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := limiter.Take(context.Background(), make([]string, len(all))...)
	if err != nil {
		t.Fatal(err)
	}
	return &r
}
