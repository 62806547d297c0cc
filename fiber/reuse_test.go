package ratelimit_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/ratelimit-go/ratelimit/core"
	ratelimit "github.com/ratelimit-go/ratelimit/fiber"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

// keeping is a store that keeps the keys as it is given them, as a map would.
type keeping struct {
	*core.Memory
	mu   sync.Mutex // guards keys
	keys map[string]bool
}

func (k *keeping) Take(ctx context.Context, now time.Time, asks []core.Ask) error {
	k.mu.Lock()
	for i := range asks {
		k.keys[asks[i].Key] = true
	}
	k.mu.Unlock()
	return k.Memory.Take(ctx, now, asks)
}

type userKey struct{}

// TestNoStringOutlivesItsRequest: on kept-alive connections Fiber writes each request
// over the one before. A key that is not copied changes in whatever keeps it.
func TestNoStringOutlivesItsRequest(t *testing.T) {
	const keys, clients, requests, limit = 50, 200, 10, 15
	for name, key := range map[string]core.Key{
		"path":   ratelimit.Key(func(c *fiber.Ctx) (string, error) { return c.Params("key"), nil }),
		"native": func(r core.Request) (string, error) { return r.Native().(*fiber.Ctx).Query("key"), nil },
		"context": keyfuncs.User(func(ctx context.Context) (string, bool) {
			user, ok := ctx.Value(userKey{}).(string)
			return user, ok
		}),
	} {
		t.Run(name, func(t *testing.T) {
			stopped := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			store := &keeping{Memory: core.NewMemory(), keys: map[string]bool{}}
			limits := ratelimit.With(ratelimit.Options{Store: store, Now: func() time.Time { return stopped }})
			app := fiber.New(fiber.Config{DisableStartupMessage: true})
			app.Post("/:key", func(c *fiber.Ctx) error {
				c.SetUserContext(context.WithValue(c.UserContext(), userKey{}, c.Get("X-Key")))
				return c.Next()
			}, limits.New(core.PerMinute(limit).FixedWindow().Named("key").By(key)), served("key"))
			url := "http://" + listen(t, app)
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
			defer client.CloseIdleConnections()

			var admitted [keys]atomic.Int64
			var wait sync.WaitGroup
			for i := range clients {
				wait.Add(1)
				go func() {
					defer wait.Done()
					for n := range requests {
						k := (i + n) % keys
						if status := post(t, client, url, fmt.Sprintf("key-%02d", k)); status == 200 {
							admitted[k].Add(1)
						}
					}
				}()
			}
			wait.Wait()
			for k := range admitted {
				if n := admitted[k].Load(); n != limit {
					t.Errorf("key %d: %d admitted, want %d", k, n, limit)
				}
			}
			if len(store.keys) != keys {
				t.Errorf("%d keys were kept, want %d", len(store.keys), keys)
			}
			for key := range store.keys {
				if !store.keys[strings.Clone(key)] {
					t.Errorf("key %q has changed since it was kept", key)
				}
			}
		})
	}
}

// TestWhatARequestSaysMayBeKept: the second request on a connection is written over
// the first.
func TestWhatARequestSaysMayBeKept(t *testing.T) {
	var kept []string
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Post("/:key", ratelimit.New(core.PerMinute(9).Costing(func(r core.Request) (int64, error) {
		route, err := r.Route()
		said := append(r.Header("X-Key"), r.Method(), r.Host(), r.Query("key"), r.Form("key"), route)
		if kept == nil {
			kept = said
		}
		return 1, err
	})), served("key"))
	url := "http://" + listen(t, app)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	post(t, client, url, "first")
	want := []string{"first", "POST", strings.TrimPrefix(url, "http://"), "first", "first", "POST /:key"}
	post(t, client, url, "other")
	if !slices.Equal(kept, want) {
		t.Errorf("kept %q, want %q", kept, want)
	}
}

func post(t *testing.T, client *http.Client, url, key string) int {
	request, err := http.NewRequest("POST", url+"/"+key+"?key="+key, strings.NewReader("key="+key))
	if err != nil {
		t.Error(err)
		return 0
	}
	request.Header.Set("X-Key", key)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := client.Do(request)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}
