package reliability

import (
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

// outcomes are what clients saw, by key: each key was asked for once.
type outcomes struct {
	mu       sync.Mutex
	admitted map[string]bool // protected by mu
	failed   int64           // protected by mu
	errors   map[string]int  // protected by mu
}

func newOutcomes() *outcomes { return &outcomes{admitted: map[string]bool{}, errors: map[string]int{}} }

// ask asks for a key that nobody has asked for.
func (o *outcomes) ask(l *core.Limiter, key string) {
	r, err := l.Take(ctx, key)
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		o.failed++
		o.errors[err.Error()]++
		return
	}
	o.admitted[key] = r.Allowed
}

// check compares with what the server has charged: nobody twice, and each who was
// admitted once.
func (o *outcomes) check(t *testing.T, server *core.Limiter, calls int64) {
	t.Helper()
	charged := int64(0)
	for i := range calls {
		key := keyOf(i)
		n := used(t, server, key)
		charged += n
		if n > 1 || o.admitted[key] && n != 1 {
			t.Errorf("%s was charged %d times, and admitted: %v", key, n, o.admitted[key])
		}
	}
	if o.failed == calls {
		t.Errorf("all of %d failed", calls)
	}
	t.Logf("%d asked, %d answered, %d failed; %d executed, none twice; %v", calls, len(o.admitted), o.failed, charged, o.errors)
}

// Whatever happens to a command or its reply on the way, no decision is executed twice.
func TestNoConnectionFaultChargesTwice(t *testing.T) {
	own := redistest.Start(t)
	for name, kind := range map[string]fault{
		"cut before the command": cutCommand, "cut before the reply": cutReply, "cut inside the reply": cutInside,
		"cut behind the reply": cutBehind, "a reply past the deadline": delayReply,
	} {
		t.Run(name, func(t *testing.T) {
			way := newProxy(t, own.Addr())
			client := redis.NewClient(&redis.Options{Addr: way.Addr().String(), MaxRetries: 5}) // go-redis would send again
			policy := closed(core.Per(100, long).FixedWindow().Named("p"))
			prefix := redisstore.Prefix(t.Name()[len("TestNo"):])
			l := newLimiter(t, newStore(t, client, prefix, redisstore.Timeout(shortestDelay/2)), policy)
			take(t, l, "first")
			way.fault.Store(int32(kind))
			seen := newOutcomes()
			stop := crowd(16, func(i int64) { seen.ask(l, keyOf(i)); time.Sleep(5 * time.Millisecond) })
			time.Sleep(time.Second)
			calls := stop()
			time.Sleep(2 * shortestDelay) // what is on its way arrives
			if n := way.faults.Load(); n < 5 {
				t.Errorf("%d faults only", n)
			}
			seen.check(t, newLimiter(t, newStore(t, own.Client(), prefix), policy), calls)
		})
	}
}

// A server that forgets the script, or becomes a replica and a master again, proves
// that it has executed nothing: what is sent again is charged once.
func TestWhatIsSentAgainIsChargedOnce(t *testing.T) {
	for name, harm := range map[string]func(admin *redis.Client) error{
		"NOSCRIPT": func(admin *redis.Client) error { return admin.ScriptFlush(ctx).Err() },
		"READONLY": func(admin *redis.Client) error {
			if err := admin.Do(ctx, "replicaof", "127.0.0.1", "1").Err(); err != nil {
				return err
			}
			time.Sleep(20 * time.Millisecond)
			return admin.Do(ctx, "replicaof", "no", "one").Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			own := redistest.Start(t)
			l := newLimiter(t, newStore(t, redis.NewClient(&redis.Options{Addr: own.Addr()})), closed(core.Per(100, long).FixedWindow().Named("p")))
			admin := own.Client()
			defer admin.Close()
			seen := newOutcomes()
			stop := crowd(16, func(i int64) { seen.ask(l, keyOf(i)); time.Sleep(5 * time.Millisecond) })
			for range 20 {
				if err := harm(admin); err != nil {
					t.Error(err)
				}
				time.Sleep(20 * time.Millisecond)
			}
			calls := stop()
			if seen.failed > 0 {
				t.Errorf("%d failed, with time to try again", seen.failed)
			}
			seen.check(t, l, calls)
		})
	}
}
