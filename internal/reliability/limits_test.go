package reliability

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

// refusal is a way in which a server that answers does not serve.
type refusal struct {
	says   string // the error's text. While it loads, it is asked again until the deadline
	config func(dir string) []string
	harm   func(t *testing.T, s *scene)
	mend   func(t *testing.T, s *scene)
}

// scene is a server with an operator at it, and a service that asks it.
type scene struct {
	*redistest.Server
	admin    *redis.Client
	dir      string
	password atomic.Value
}

func (s *scene) do(t *testing.T, words ...any) {
	t.Helper()
	if err := s.admin.Do(ctx, words...).Err(); err != nil {
		t.Fatalf("%v: %v", words, err)
	}
}

func newScene(t *testing.T, config func(dir string) []string) *scene {
	s := &scene{dir: t.TempDir()}
	s.Server = redistest.Start(t, append([]string{"--dir", s.dir, "--user", "limiter", "on", ">first", "~*", "+@all"}, config(s.dir)...)...)
	s.admin = s.Client()
	t.Cleanup(func() { s.admin.Close() })
	s.password.Store("first")
	return s
}

func nothing(string) []string { return nil }

var refusals = map[string]refusal{
	"memory is full": {"OOM", nothing,
		func(t *testing.T, s *scene) { s.do(t, "config", "set", "maxmemory", "1") },
		func(t *testing.T, s *scene) { s.do(t, "config", "set", "maxmemory", "0") }},
	"it cannot save": {"MISCONF", func(string) []string { return []string{"--save", "3600 1"} },
		func(t *testing.T, s *scene) {
			if err := os.Mkdir(filepath.Join(s.dir, "dump.rdb"), 0o700); err != nil {
				t.Fatal(err)
			}
			s.save(t, "err")
		},
		func(t *testing.T, s *scene) {
			if err := os.Remove(filepath.Join(s.dir, "dump.rdb")); err != nil {
				t.Fatal(err)
			}
			s.save(t, "ok")
		}},
	"it is loading": {"no answer in time", func(string) []string {
		return []string{"--key-load-delay", "1000", "--loading-process-events-interval-bytes", "1024"}
	},
		func(t *testing.T, s *scene) {
			pipe := s.admin.Pipeline()
			for i := range int64(1500) {
				pipe.Set(ctx, keyOf(i), "a value that takes some bytes of the file", 0)
			}
			if _, err := pipe.Exec(ctx); err != nil {
				t.Fatal(err)
			}
			s.do(t, "save")
			s.Restart()
		},
		func(t *testing.T, s *scene) {
			eventually(t, "it has loaded", patience, func() bool { return s.admin.Get(ctx, "k0").Err() == nil })
		}},
	"a script runs for ever": {"BUSY", func(string) []string { return []string{"--busy-reply-threshold", "20"} },
		func(t *testing.T, s *scene) {
			go func() {
				other := s.Client()
				defer other.Close()
				_ = other.Eval(context.Background(), "while true do end", nil).Err() // is killed
			}()
			eventually(t, "it is busy", patience, func() bool { return contains(s.admin.Ping(ctx).Err(), "BUSY") })
		},
		func(t *testing.T, s *scene) { s.do(t, "script", "kill") }},
	"the rights are gone": {"NOPERM", nothing,
		func(t *testing.T, s *scene) { s.do(t, "acl", "setuser", "limiter", "-evalsha") },
		func(t *testing.T, s *scene) { s.do(t, "acl", "setuser", "limiter", "+evalsha") }},
	"the password has changed": {"WRONGPASS", nothing,
		func(t *testing.T, s *scene) {
			s.do(t, "acl", "setuser", "limiter", "resetpass", ">second")
			s.do(t, "client", "kill", "user", "limiter")
		},
		func(t *testing.T, s *scene) { s.password.Store("second") }},
}

// save tries to, until it ends as it should.
func (s *scene) save(t *testing.T, status string) {
	t.Helper()
	_ = s.admin.BgSave(ctx).Err() // one may be running
	eventually(t, "the last save was "+status, patience, func() bool {
		return s.admin.InfoMap(ctx, "persistence").Item("Persistence", "rdb_last_bgsave_status") == status
	})
}

// What a server says instead of serving goes through each policy's StoreAway, and the
// service comes back by itself.
func TestAServerThatAnswersAndDoesNotServe(t *testing.T) {
	for name, r := range refusals {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, r.config)
			client := redis.NewClient(&redis.Options{Addr: s.Addr(), MaxRetries: -1, CredentialsProvider: func() (string, string) {
				return "limiter", s.password.Load().(string)
			}})
			store := newStore(t, client, redisstore.Timeout(200*time.Millisecond))
			policies := []*core.Limiter{ // two may pass while it is away, all, or none
				newLimiter(t, store, core.Per(2, long).FixedWindow().Named("local")),
				newLimiter(t, store, core.Per(2, long).FixedWindow().Named("open").WhenStoreAway(core.Open)),
				newLimiter(t, store, closed(core.Per(2, long).FixedWindow().Named("closed"))),
			}
			for _, l := range policies {
				take(t, l, "k")
			}
			r.harm(t, s)
			told := false
			for i, want := range []int{2, 5, 0} {
				told = away(t, policies[i], want, r.says) || told
			}
			if !told && !contains(s.plainly(store), r.says) {
				t.Errorf("nobody was told %s", r.says)
			}
			r.mend(t, s)
			took := eventually(t, "it is back", 2*time.Second, func() bool {
				result, err := policies[0].Take(ctx, "after")
				return err == nil && !result.StoreAway
			})
			t.Logf("back %v after the mend", took)
		})
	}
}

// away asks five times, and reports whether the error told why.
func away(t *testing.T, l *core.Limiter, want int, says string) (told bool) {
	t.Helper()
	passed := 0
	for range 5 {
		result, err := l.Take(ctx, "k")
		if !result.StoreAway || err != nil && !errors.Is(err, core.ErrStoreAway) {
			t.Errorf("%s: %+v, %v", says, result, err)
		}
		if err == nil && result.Allowed {
			passed++
		}
		told = told || contains(err, says)
	}
	if passed != want {
		t.Errorf("%d of 5 passed, want %d", passed, want)
	}
	return told
}

// plainly waits out the breaker, and asks for what the server itself says.
func (s *scene) plainly(store *redisstore.Store) error {
	time.Sleep(300 * time.Millisecond)
	terms, err := core.PerHour(5).Terms(core.PerHour(5).Limit)
	if err != nil {
		return err
	}
	return store.Take(ctx, time.Time{}, []core.Ask{{Terms: terms, Key: "k", Cost: 1, LongestWait: -1}})
}

// A server that drops keys when its memory is full forgets, and fails nobody.
func TestAServerThatEvicts(t *testing.T) {
	own := redistest.Start(t, "--maxmemory", "3mb", "--maxmemory-policy", "allkeys-lru")
	store := newStore(t, own.Client())
	l := newLimiter(t, store, closed(core.Per(1, long).FixedWindow().Named("p")))
	for i := range int64(20_000) {
		if !take(t, l, keyOf(i)).Allowed {
			t.Fatalf("key %d is refused", i)
		}
	}
	admin := own.Client()
	defer admin.Close()
	if n := admin.DBSize(ctx).Val(); n == 20_000 || n == 0 {
		t.Errorf("it holds %d keys", n)
	}
	if evicts, err := store.Evicts(ctx); err != nil || !evicts {
		t.Errorf("it is not known to evict: %v", err)
	}
}
