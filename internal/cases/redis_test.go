package cases_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/policies"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

// hostileKeys are braces in every place, and worse.
var hostileKeys = []string{"k", "{a}", "a{b}c{d}", "{}", "}{", "{", "}", "{}a", "", "\x00", "a b", "é", strings.Repeat("k", 1000)}

// gofiber/fiber PR4677, apiaxle/apiaxle#96, juspay/clairvoyance PR930: an attacker's
// header became a key of any size.
func Test_B63_KeysAreBounded(t *testing.T) {
	client, prefix := server.Client(), newPrefix()
	redisStore := newRedis(t, client, redisstore.Prefix(prefix))
	memory := newMemory(t)
	huge := strings.Repeat("k", 1<<20)
	for _, store := range []core.Store{redisStore, memory} {
		l := newLimiter(t, store, closed(core.PerHour(1).Named("p")))
		for i := range 20 {
			key := huge + fmt.Sprint(i) // they differ at their ends only
			if first, second := take(t, l, key), take(t, l, key); !first.Allowed || second.Allowed {
				t.Errorf("%T, key %d: %v, then %v", store, i, first.Allowed, second.Allowed)
			}
		}
	}
	names := client.Keys(ctx, prefix+":*").Val()
	if len(names) != 20 || memory.Len() != 20 {
		t.Errorf("%d keys in redis, %d in memory, want 20", len(names), memory.Len())
	}
	for _, name := range names {
		if len(name) > 200 {
			t.Errorf("a key of %d bytes", len(name))
		}
	}
}

// counting counts what a client sends.
type counting struct{ commands, pipelines atomic.Int64 }

func (c *counting) DialHook(next redis.DialHook) redis.DialHook { return next }
func (c *counting) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.commands.Add(1)
		return next(ctx, cmd)
	}
}
func (c *counting) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if name := cmds[0].Name(); name == "evalsha" || name == "eval" { // not a connection's greeting
			c.pipelines.Add(1)
		}
		return next(ctx, cmds)
	}
}

// BerriAI/litellm PR36459: the refund that should undo a charge failed. Here there is
// none: a decision over several policies is one command.
func Test_B81_ADecisionIsOneCommand(t *testing.T) {
	client, sent := server.Client(), &counting{}
	l := newLimiter(t, newRedis(t, client), policies.OneOfEach(30, time.Hour)...)
	keys := []string{"k", "l", "m", "n", "o"}
	take(t, l, keys...) // loads the script
	client.AddHook(sent)
	for range 10 {
		take(t, l, keys...)
	}
	if n := sent.commands.Load() + sent.pipelines.Load(); n != 10 {
		t.Errorf("10 decisions of 5 policies were %d commands", n)
	}
}

// eventually waits for what another process does.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// spring-cloud/spring-cloud-gateway#248, gravitee-io/gravitee-api-management PR17370,
// timebug/lua-resty-redis-ratelimit PR9: CROSSSLOT on a cluster, taken for admitted.
func Test_B88_NoCrossSlotOnACluster(t *testing.T) {
	cluster := redistest.StartCluster(t, 0)
	var monitors []*monitor
	for _, master := range cluster.Masters {
		monitors = append(monitors, newMonitor(t, master.Addr()))
	}
	store := newRedis(t, cluster.Client())
	policies := policies.OneOfEach(2, 366*24*time.Hour)
	l := newLimiter(t, store, policies...)
	for i, key := range hostileKeys {
		keys := []string{key, key, key, key, key} // one slot
		for turn := range 2 {
			for want := range 3 {
				if r := take(t, l, keys...); r.Allowed != (want < 2) {
					t.Fatalf("keys %.20q: request %d: allowed %v", keys, want+1, r.Allowed)
				}
			}
			if turn == 0 { // and slots of their own
				for j := range keys {
					keys[j] = hostileKeys[(i+j)%len(hostileKeys)] + "apart"
				}
				l = newLimiter(t, newRedis(t, cluster.Client()), policies...)
			}
		}
	}
	for _, m := range monitors {
		for _, key := range slices.Concat(m.keysOfScripts(t)...) {
			if !strings.HasPrefix(key, "cases") {
				t.Errorf("KEYS holds %q", key)
			}
		}
	}
}

// developerz-ai/wurk#91, redis/rueidis PR974, Effect-TS/effect-smol#2328,
// cristipufu/aspnetcore-redis-rate-limiting#154, spring-cloud/spring-cloud-gateway#3379,
// django/channels_redis#379: scripts that touched keys they had not declared, or had
// none, or called what hosted servers forbid.
func Test_B89_B91_ScriptsTouchDeclaredKeysOnly(t *testing.T) {
	own := redistest.Start(t)
	prefix := newPrefix()
	rules := []any{"acl", "setuser", "limiter", "on", ">secret"}
	for _, p := range policies.OneOfEach(3, time.Hour) {
		terms, err := p.Terms(p.Limit)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, "~"+prefix+":2:{k}:"+terms.ID)
	}
	setUser(t, own, append(rules, words(leastRights)...))
	monitor := newMonitor(t, own.Addr())
	store := newRedis(t, asLimiter(own), redisstore.Prefix(prefix))
	for _, p := range policies.OneOfEach(3, time.Hour) {
		s := newScene(t, store, p)
		for range 8 { // windows roll over, entries leave
			r := s.ask(t)
			if err := s.Settle(ctx, &r, 2); err != nil {
				t.Error(err)
			}
			s.advance(25 * time.Minute)
		}
		for _, err := range []error{s.Block(ctx, "", "k", time.Minute), s.Reset(ctx, "", "k")} {
			if err != nil {
				t.Error(err)
			}
		}
	}
	for _, keys := range monitor.keysOfScripts(t) {
		if len(keys) == 0 {
			t.Error("a script without keys")
		}
	}
}

// leastRights is what the README says that a user needs, but for the keys.
const leastRights = "-@all +evalsha +script|load +time +get +set +setrange +del +pexpireat +lindex +llen +lrem +ltrim +rpush +rpop"

func words(text string) (all []any) {
	for _, word := range strings.Fields(text) {
		all = append(all, word)
	}
	return all
}

func setUser(t *testing.T, own *redistest.Server, rules []any) {
	t.Helper()
	admin := own.Client()
	defer admin.Close()
	if err := admin.Do(ctx, rules...).Err(); err != nil {
		t.Fatal(err)
	}
}

func asLimiter(own *redistest.Server) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: own.Addr(), Username: "limiter", Password: "secret", MaxRetries: -1})
}

// redis/go-redis#3228, redis/go-redis#536, redis/go-redis#446, upstash/ratelimit-js#122:
// NOSCRIPT after a flush, in a pipeline too.
func Test_B92_B93_AFlushUnderLoadIsNotSeen(t *testing.T) {
	alone, cluster := redistest.Start(t), redistest.StartCluster(t, 0)
	servers := map[string][]*redistest.Server{"alone": {alone}, "cluster": cluster.Masters}
	for name, store := range map[string]core.Store{
		"alone":   newRedis(t, alone.Client()),
		"cluster": newRedis(t, cluster.Client()),
	} {
		t.Run(name, func(t *testing.T) {
			var admins []*redis.Client
			for _, own := range servers[name] {
				admins = append(admins, own.Client())
				defer admins[len(admins)-1].Close()
			}
			l := newLimiter(t, store, closed(core.PerHour(500).TokenBucket(500).Named("p")), closed(core.Per(1e6, 366*24*time.Hour).Named("q")))
			var admitted atomic.Int64
			stopped := make(chan struct{})
			flushed := make(chan int)
			go func() {
				n := 0
				for {
					select {
					case <-stopped:
						flushed <- n
						return
					case <-time.After(2 * time.Millisecond):
						for _, admin := range admins {
							admin.ScriptFlush(ctx)
						}
						n++
					}
				}
			}()
			atOnce(40, func(i int) {
				for j := range 40 {
					r, err := l.Take(ctx, "k", fmt.Sprint(i, j%3))
					if err != nil {
						t.Error(err)
					}
					if r.Allowed {
						admitted.Add(1)
					}
				}
			})
			close(stopped)
			// The bucket gives back one unit in 7 s.
			if n, flushes := admitted.Load(), <-flushed; n < 500 || n > 502 || flushes < 3 {
				t.Errorf("%d of 1600 admitted at a limit of 500, with %d flushes", n, flushes)
			}
		})
	}
}

// BerriAI/litellm#32232: a server that forbids SCRIPT made each process count alone.
func Test_B94_WithoutScriptLoadOneLimitHolds(t *testing.T) {
	own := redistest.Start(t)
	setUser(t, own, append([]any{"acl", "setuser", "limiter", "on", ">secret", "~*"}, words("+@all -script")...))
	prefix := newPrefix()
	p := closed(core.Per(10, 366*24*time.Hour).Named("p"))
	admitted := 0
	var instances [2]*core.Limiter
	for i := range instances {
		instances[i] = newLimiter(t, newRedis(t, asLimiter(own), redisstore.Prefix(prefix)), p)
	}
	for i := range 40 {
		if r := take(t, instances[i%2], "k"); r.Allowed {
			admitted++
		}
	}
	if admitted != 10 {
		t.Errorf("two instances admitted %d of 40 at a limit of 10", admitted)
	}
}

// alisaifee/flask-limiter#398, upstash/ratelimit-js#18,
// animir/node-rate-limiter-flexible#285: missing rights became 500s.
func Test_B95_MissingRightsAreToldAndHeal(t *testing.T) {
	own := redistest.Start(t)
	grant := func(rights string) {
		setUser(t, own, append([]any{"acl", "setuser", "limiter", "reset", "on", ">secret", "~*"}, words(rights)...))
	}
	grant(leastRights)
	store := newRedis(t, asLimiter(own), redisstore.Timeout(time.Second))
	log, other := newLimiter(t, store, closed(core.PerHour(2).SlidingWindowLog().Named("log"))), newLimiter(t, store, closed(core.PerHour(9).Named("counter")))
	take(t, log, "k")
	for _, right := range []string{"+evalsha", "+time", "+get", "+set", "+rpush", "+llen"} {
		grant(strings.Replace(leastRights, right+" ", "", 1))
		l := map[bool]*core.Limiter{true: log, false: other}[right == "+rpush" || right == "+llen"]
		if _, err := l.Take(ctx, right); err == nil || !strings.Contains(err.Error(), "NOPERM") && !strings.Contains(err.Error(), "can't run this command") {
			t.Errorf("without %s: %v", right, err)
		}
		grant(leastRights)
		eventually(t, "it heals with its right "+right, func() bool {
			_, err := l.Take(ctx, right)
			return err == nil
		})
	}
}
