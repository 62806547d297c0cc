package core_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// TestDecideToIsDecide: the same decisions, at another place.
func TestDecideToIsDecide(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	policies := []core.Policy{core.PerMinute(2).Named("a"), core.PerMinute(9).TokenBucket(3).Named("b")}
	limiter := func() *core.Limiter {
		l, err := core.NewLimiter(nil, policies...)
		if err != nil {
			t.Fatal(err)
		}
		return l.WithNow(func() time.Time { return now })
	}
	one, other := limiter(), limiter()
	chosen, err := core.ParseLimit("1/minute")
	if err != nil {
		t.Fatal(err)
	}
	for i, units := range [][]core.Units{
		{{Key: "k", Cost: 1}, {Key: "k", Cost: 1}},
		{{Key: "k", Cost: 1}, {Key: "k", Cost: 9}},
		{{Skip: true}, {Key: "k", Cost: 1}},
		{{Key: "k", Cost: 1, Limit: chosen}, {Skip: true}},
		{{Key: "k", Cost: -1}, {Key: "k"}},
		{{Key: "k", Cost: 1}},
	} {
		want, wantErr := one.Decide(context.Background(), units)
		var got core.Result
		gotErr := other.DecideTo(context.Background(), &got, units)
		if (gotErr == nil) != (wantErr == nil) || gotErr == nil && !reflect.DeepEqual(got.Decisions(), want.Decisions()) || got.Allowed != want.Allowed {
			t.Errorf("%d: %v, %v; want %v, %v", i, got.Decisions(), gotErr, want.Decisions(), wantErr)
		}
	}
}
