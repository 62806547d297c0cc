package redisstore_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/internal/policies"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

// leastRights is what a user needs, as the documentation has it.
const leastRights = "~test* -@all +evalsha +script|load +time +get +set +setrange +del +pexpireat +lindex +llen +lrem +ltrim +rpush +rpop"

func TestTheLeastRights(t *testing.T) {
	for name, rights := range map[string]string{
		"documented":      leastRights,
		"without loading": strings.ReplaceAll(leastRights, "+script|load", "+eval"),
	} {
		t.Run(name, func(t *testing.T) {
			own := redistest.Start(t)
			admin := own.Client()
			defer admin.Close()
			args := []any{"acl", "setuser", "limiter", "on", ">secret"}
			for _, word := range strings.Fields(rights) {
				args = append(args, word)
			}
			if err := admin.Do(ctx, args...).Err(); err != nil {
				t.Fatal(err)
			}
			client := redis.NewClient(&redis.Options{Addr: own.Addr(), Username: "limiter", Password: "secret"})
			store := newStore(t, client)
			for _, p := range policies.OneOfEach(5, time.Hour) {
				everyVerb(t, newLimiter(t, store, p))
				threeQuartersOfAPeriodApart(t, newLimiter(t, store, p))
			}
		})
	}
}

// everyVerb does all that a limiter can, so that every command is needed.
func everyVerb(t *testing.T, limiter *core.Limiter) {
	t.Helper()
	first, second := take(t, limiter, "k"), take(t, limiter, "k")
	for _, err := range []error{
		limiter.Refund(ctx, &second),
		limiter.Settle(ctx, &first, 3),
		limiter.Block(ctx, "", "k", time.Minute),
		limiter.Block(ctx, "", "k", 0),
		limiter.Reset(ctx, "", "k"),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}

// threeQuartersOfAPeriodApart has the log drop its oldest.
func threeQuartersOfAPeriodApart(t *testing.T, limiter *core.Limiter) {
	t.Helper()
	now := time.Now()
	limiter = limiter.WithNow(func() time.Time { return now })
	for range 4 {
		take(t, limiter, "aged")
		now = now.Add(45 * time.Minute)
	}
}
