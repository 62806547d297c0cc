package redisstore_test

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/core/storetest"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

// patience is a timeout for tests of what is decided, not of when.
const patience = 10 * time.Second

var ctx = context.Background()

// server is shared by the tests that do it no harm; each has a prefix of its own.
var server *redistest.Server

func TestMain(m *testing.M) {
	if addr := os.Getenv(childAddr); addr != "" {
		os.Exit(child(addr))
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	logging.Disable() // servers are away here on purpose
	var err error
	if server, err = redistest.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer server.Stop()
	return m.Run()
}

var prefixes atomic.Int64

// newPrefix is one that no other test has.
func newPrefix() string { return fmt.Sprint("test", prefixes.Add(1)) }

// newStore is a store with nothing in it, over a client that it closes with the test.
func newStore(t testing.TB, client redis.UniversalClient, options ...redisstore.Option) *redisstore.Store {
	t.Helper()
	t.Cleanup(func() { client.Close() })
	all := append([]redisstore.Option{redisstore.Prefix(newPrefix()), redisstore.Timeout(patience)}, options...)
	return redisstore.New(client, all...)
}

// newStoreLike is another instance's store: of the same keys, over a client of its own.
func newStoreLike(t testing.TB, like *redisstore.Store) *redisstore.Store {
	t.Helper()
	client := redisstore.Client(like).(*redis.Client)
	other := redis.NewClient(client.Options())
	t.Cleanup(func() { other.Close() })
	return redisstore.New(other, redisstore.Prefix(redisstore.PrefixOf(like)), redisstore.Timeout(patience))
}

func newLimiter(t testing.TB, store core.Store, policies ...core.Policy) *core.Limiter {
	t.Helper()
	limiter, err := core.NewLimiter(store, policies...)
	if err != nil {
		t.Fatal(err)
	}
	return limiter
}

func take(t testing.TB, limiter *core.Limiter, keys ...string) core.Result {
	t.Helper()
	r, err := limiter.Take(ctx, keys...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// closed is a policy whose errors are told: no memory stands in.
func closed(p core.Policy) core.Policy { return p.WhenStoreAway(core.Closed) }

func termsID(t testing.TB, p core.Policy) string {
	t.Helper()
	terms, err := p.Terms(p.Limit)
	if err != nil {
		t.Fatal(err)
	}
	return terms.ID
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t testing.TB) core.Store { return newStore(t, server.Client()) })
}

func TestStoreWithOneHashTag(t *testing.T) {
	storetest.Run(t, func(t testing.TB) core.Store {
		return newStore(t, server.Client(), redisstore.HashTag("shop"))
	})
}

func TestMisusePanicsWithTheMend(t *testing.T) {
	for name, misuse := range map[string]func(){
		"nil":            func() { redisstore.New(nil) },
		"typed nil":      func() { redisstore.New((*redis.Client)(nil)) },
		"empty prefix":   func() { redisstore.Prefix("") },
		"prefix {":       func() { redisstore.Prefix("a{b") },
		"prefix space":   func() { redisstore.Prefix("a b") },
		"prefix é":       func() { redisstore.Prefix("é") },
		"empty hash tag": func() { redisstore.HashTag("") },
		"hash tag }":     func() { redisstore.HashTag("}") },
		"timeout 0":      func() { redisstore.Timeout(0) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if text, _ := recover().(string); len(text) < len("ratelimit: ") || text[:11] != "ratelimit: " {
					t.Errorf("panic %q", text)
				}
			}()
			misuse()
		})
	}
}
