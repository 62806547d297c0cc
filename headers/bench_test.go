package headers

import (
	"context"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

func BenchmarkAppend(b *testing.B) {
	one := []core.Policy{ip}
	three := []core.Policy{ip, day, bucket}
	for name, policies := range map[string][]core.Policy{"policies=1": one, "policies=3": three} {
		b.Run(name, func(b *testing.B) {
			f, err := New()
			if err != nil {
				b.Fatal(err)
			}
			f = f.For(policies...)
			r := taken(b, policies...)
			var room [5]Field
			b.ReportAllocs()
			for b.Loop() {
				if got := f.Append(room[:0], time.Time{}, r); len(got) != 5 {
					b.Fatal(got)
				}
			}
		})
	}
}

func BenchmarkRefused(b *testing.B) {
	limiter, err := core.NewLimiter(nil, core.PerMinute(1).Named("ip"))
	if err != nil {
		b.Fatal(err)
	}
	var r core.Result
	for range 2 {
		if r, err = limiter.Take(context.Background(), "k"); err != nil {
			b.Fatal(err)
		}
	}
	accept := []string{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
	for name, accept := range map[string][]string{"problem": nil, "browser": accept} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if status, _, _ := Refused(&r, accept); status != 429 {
					b.Fatal(status)
				}
			}
		})
	}
}

// taken is the result of one request by fresh policies.
func taken(tb testing.TB, policies ...core.Policy) *core.Result {
	tb.Helper()
	limiter, err := core.NewLimiter(nil, policies...)
	if err != nil {
		tb.Fatal(err)
	}
	keys := make([]string, len(policies))
	for i := range keys {
		keys[i] = "k"
	}
	r, err := limiter.Take(context.Background(), keys...)
	if err != nil {
		tb.Fatal(err)
	}
	return &r
}
