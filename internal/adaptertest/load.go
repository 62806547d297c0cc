package adaptertest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

var load = []testCase{
	{name: "200 clients with 50 keys on kept-alive connections", run: manyClients, alone: true},
	{name: "50 requests at once, the fields of all", run: atOnce},
	{name: "handlers run side by side", run: sideBySide},
}

// keeping is a store that keeps the keys as it is given them, as a map would.
type keeping struct {
	core.Store
	mu   sync.Mutex // guards keys
	keys map[string]bool
}

// Take keeps the keys.
func (k *keeping) Take(ctx context.Context, now time.Time, asks []core.Ask) error {
	k.mu.Lock()
	for i := range asks {
		k.keys[asks[i].Key] = true
	}
	k.mu.Unlock()
	return k.Store.Take(ctx, now, asks)
}

// manyClients: each key is admitted exactly its limit, and none changes in what
// keeps it, as strings of a server that reuses its memory would.
func manyClients(t *testing.T, d Driver) {
	for name, key := range map[string]core.Key{
		"Key":   d.Key(func(c Call) (string, error) { return c.Query("key"), nil }),
		"User":  d.User(func(c Call) (string, bool) { return c.Header("X-Key"), true }),
		"form":  keyfuncs.Form("key"),
		"query": keyfuncs.Query("key"),
		"joined": func(r core.Request) (string, error) {
			return core.Join(keyfuncs.Route(), keyfuncs.Host(), keyfuncs.Cookie("key"))(r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := &keeping{Store: d.store()(), keys: map[string]bool{}}
			o := fixed()
			o.Store = store
			policy := core.PerMinute(perKey).FixedWindow().Named("key").By(key).WithoutKey(core.RefuseNoKey)
			rush(t, d.Serve(t, App{Options: o, Routes: []Route{{"POST", "/", []Policies{{policy}}, ok}}}))
			if len(store.keys) != rushKeys {
				t.Errorf("%d keys were kept, want %d", len(store.keys), rushKeys)
			}
			for key := range store.keys {
				if !store.keys[strings.Clone(key)] {
					t.Errorf("key %q has changed since it was kept", key)
				}
			}
		})
	}
}

// perKey is how many of its requests each key of a rush is admitted.
const rushClients, rushKeys, rushEach, perKey = 200, 50, 10, 15

// rush is all clients at once.
func rush(t *testing.T, url string) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: rushClients}}
	defer client.CloseIdleConnections()
	var admitted [rushKeys]atomic.Int64
	var wait sync.WaitGroup
	for i := range rushClients {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for n := range rushEach {
				if k := (i + n) % rushKeys; post(t, client, url, fmt.Sprintf("key-%02d", k)) == 200 {
					admitted[k].Add(1)
				}
			}
		}()
	}
	wait.Wait()
	for k := range admitted {
		if n := admitted[k].Load(); n != perKey {
			t.Errorf("key %d: %d admitted, want %d", k, n, perKey)
		}
	}
}

// post says the key in every way.
func post(t *testing.T, client *http.Client, url, key string) (status int) {
	request, err := http.NewRequest("POST", url+"/?key="+key, strings.NewReader("key="+key))
	if err != nil {
		t.Error(err)
		return 0
	}
	request.Header.Set("X-Key", key)
	request.Header.Set("Cookie", "key="+key)
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

// atOnce: every answer has its fields, and no number of those left comes twice.
func atOnce(t *testing.T, d Driver) {
	const limit, requests = 25, 50
	url := d.Serve(t, app(fixed(), core.PerMinute(limit).FixedWindow().Named("p")))
	answers := make(chan answer, requests)
	for range requests {
		go func() { answers <- send(t, "GET", url) }()
	}
	left := map[string]int{}
	for range requests {
		got := <-answers
		for _, name := range fieldNames[:5] {
			if len(got.header.Values(name)) != 1 {
				t.Errorf("status %d without %s", got.status, name)
			}
		}
		if got.status == 200 {
			left[got.header.Get("RateLimit-Remaining")]++
		} else {
			got.wantField(t, "RateLimit-Remaining", "0")
		}
	}
	if len(left) != limit {
		t.Errorf("admitted with %v left, want 0 to %d once each", left, limit-1)
	}
}

// sideBySide: no lock, slot or connection is held while a handler runs. Each waits
// until all have come.
func sideBySide(t *testing.T, d Driver) {
	const requests = 60
	for _, outcomes := range watching {
		var come sync.WaitGroup
		come.Add(requests)
		a := app(fixed(), core.PerMinute(requests).Named("p").Counting(outcomes), core.PerMinute(requests).Named("q"))
		a.Routes[0].Handler = func(c Call) {
			come.Done()
			come.Wait()
			ok(c)
		}
		url := d.Serve(t, a)
		statuses := make(chan int, requests)
		for range requests {
			go func() { statuses <- send(t, "GET", url).status }()
		}
		for range requests {
			if status := <-statuses; status != 200 {
				t.Fatalf("status %d, want 200", status)
			}
		}
	}
}
