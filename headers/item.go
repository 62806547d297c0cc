package headers

import (
	"math/bits"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// item is one policy's part of the fields.
type item struct {
	*texts
	remaining int64
	// after is the wait of a refusing policy, the reset of the others.
	after time.Duration
	// reset is the time until the key is as if never seen.
	reset   time.Duration
	allowed bool
	never   bool
}

// collect lists the policies to show, each name once.
func (f *Format) collect(items []item, results []*core.Result) []item {
	for _, r := range results {
		for i := range r.Len() {
			a := r.Ask(i)
			if a.Terms.DryRun || a.Unasked || a.Terms.Limit.IsUnlimited() {
				continue
			}
			items = add(items, item{
				texts: f.texts(i, a.Terms), remaining: a.Remaining,
				allowed: a.Allowed, never: a.Never, after: after(a), reset: a.ResetAfter,
			})
		}
	}
	return items
}

func after(a *core.Ask) time.Duration {
	if a.Allowed {
		return a.ResetAfter
	}
	return a.RetryAfter
}

func add(items []item, next item) []item {
	for i := range items {
		if items[i].policy == next.policy {
			if next.tighter(&items[i]) {
				items[i] = next
			}
			return items
		}
	}
	return append(items, next)
}

// tightest is the index of the binding policy, the first of equals.
func tightest(items []item) int {
	best := 0
	for i := 1; i < len(items); i++ {
		if items[i].tighter(&items[best]) {
			best = i
		}
	}
	return best
}

// tighter reports whether a matters more than b to a client, by the order of
// [core.Result.Binding].
func (a *item) tighter(b *item) bool {
	switch {
	case a.allowed != b.allowed:
		return b.allowed
	case a.never != b.never:
		return a.never
	case a.allowed && a.remaining != b.remaining:
		return a.remaining < b.remaining
	}
	return a.after > b.after
}

// window is the time that a full capacity takes, capacity x period / count, in
// seconds rounded up, and whether that is exact. 0: there is none (blocked).
func window(limit core.Limit, capacity int64) (seconds int64, exact bool) {
	const second = uint64(time.Second / time.Microsecond)
	period, count := limit.Period.Microseconds(), limit.Count
	if period < 1 || count < 1 || capacity < 1 {
		return 0, false
	}
	high, low := bits.Mul64(uint64(capacity), uint64(period))
	divisor := uint64(count) * second
	if high >= divisor {
		return maxInteger, false // no legal limit is as long
	}
	whole, rest := bits.Div64(high, low, divisor)
	if rest > 0 {
		whole++
	}
	return int64(min(whole, maxInteger)), rest == 0
}

// seconds rounds up to whole seconds.
func seconds(d time.Duration) int64 {
	s := int64(d / time.Second)
	if d%time.Second > 0 {
		s++
	}
	return s
}
