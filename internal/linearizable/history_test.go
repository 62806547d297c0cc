package linearizable

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/redis/go-redis/v9/logging"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

const (
	short = 8 * time.Second
	long  = 366 * 24 * time.Hour // in which nothing that was used comes back
)

// newStore is a store of an instance. What it remembers of refusals would be its own.
func newStore(t *testing.T, server *redistest.Server, options ...redisstore.Option) core.Store {
	client := server.Client()
	t.Cleanup(func() { client.Close() })
	return redisstore.New(client, append([]redisstore.Option{redisstore.RememberRefusals(0), redisstore.Timeout(patience)}, options...)...)
}

func newMemory(t *testing.T) *core.Memory {
	memory := core.NewMemory()
	t.Cleanup(func() { memory.Close() })
	return memory
}

// keysOf are three that no other history has.
func keysOf(history int) (keys []string) {
	for i := range 3 {
		keys = append(keys, fmt.Sprint(history, ".", i))
	}
	return keys
}

func eachStore(t *testing.T, run func(t *testing.T, stores []core.Store)) {
	t.Run("memory", func(t *testing.T) {
		run(t, []core.Store{newMemory(t)})
	})
	t.Run("redis", func(t *testing.T) {
		server := redistest.Start(t)
		run(t, []core.Store{newStore(t, server), newStore(t, server)})
	})
}

// Concurrent histories of every algorithm, in both stores, are those of one decision after
// the other, in every value of the answers: at times that the clients give, which go to
// and fro.
func TestHistoriesAreLinear(t *testing.T) {
	eachStore(t, func(t *testing.T, stores []core.Store) {
		for _, a := range algorithms(short) {
			t.Run(a.Name, func(t *testing.T) {
				for i := range 100 {
					check(t, modelOf(a, true), newRecorder(t, a).record(stores, keysOf(i), func() {}))
				}
			})
		}
	})
}

// And so they are on the stores' own clocks.
func TestHistoriesOnTheStoresClockAreLinear(t *testing.T) {
	eachStore(t, func(t *testing.T, stores []core.Store) {
		for _, a := range algorithms(long) {
			t.Run(a.Name, func(t *testing.T) {
				for i := range 100 {
					r := newRecorder(t, a)
					r.exact = false
					check(t, modelOf(a, false), r.record(stores, keysOf(i), func() {}))
				}
			})
		}
	})
}

// With the server killed and started again in between, what was counted is lost once, and
// nothing else happens.
func TestHistoriesAreLinearButForACrash(t *testing.T) {
	logging.Disable() // the server is away on purpose
	server := redistest.Start(t)
	for _, a := range algorithms(short) {
		t.Run(a.Name, func(t *testing.T) {
			var stores []core.Store
			for range 2 {
				stores = append(stores, newStore(t, server, redisstore.Timeout(100*time.Millisecond)))
			}
			around := 0
			for i := range 5 {
				awaitAll(t, a, stores)
				history := recordACrash(t, a, stores, keysOf(i), server)
				check(t, modelOf(a, true), history)
				if isAround(history) {
					around++
				}
			}
			if around == 0 {
				t.Error("no history was answered before and after its crash")
			}
		})
	}
}

func recordACrash(t *testing.T, a *algorithm, stores []core.Store, keys []string, server *redistest.Server) []porcupine.Operation {
	t.Helper()
	r := newRecorder(t, a)
	r.mayFail = true
	return r.record(stores, keys, func() {
		time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
		r.do(clients, input{kind: crash}, func() (core.Answer, error) {
			server.Restart()
			return core.Answer{}, nil
		})
	})
}

// isAround reports that requests were answered both before and after a history's crash.
func isAround(history []porcupine.Operation) bool {
	at := slices.IndexFunc(history, func(o porcupine.Operation) bool { return o.Input.(input).kind == crash })
	before := slices.ContainsFunc(history, func(o porcupine.Operation) bool { return o.Return < history[at].Call })
	after := slices.ContainsFunc(history, func(o porcupine.Operation) bool {
		return o.Call > history[at].Return && o.Output.(output).known
	})
	return before && after
}

// awaitAll waits until all stores have found the server.
func awaitAll(t *testing.T, a *algorithm, stores []core.Store) {
	t.Helper()
	r := newRecorder(t, a)
	r.mayFail = true
	for _, store := range stores {
		for end := time.Now().Add(patience); !r.take(0, store, core.Ask{Terms: r.terms, Key: "other"}, 0).known; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the server does not come back")
			}
		}
	}
}
