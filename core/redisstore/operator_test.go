package redisstore_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

func TestAServerThatEvictsIsKnown(t *testing.T) {
	for _, c := range []struct {
		config []string
		evicts bool
	}{
		{nil, false},
		{[]string{"--maxmemory", "100mb", "--maxmemory-policy", "noeviction"}, false},
		{[]string{"--maxmemory", "100mb", "--maxmemory-policy", "volatile-lru"}, true},
		{[]string{"--maxmemory-policy", "allkeys-lru"}, false}, // of no bound
	} {
		server := redistest.Start(t, c.config...)
		if evicts, err := redisstore.New(server.Client()).Evicts(t.Context()); err != nil || evicts != c.evicts {
			t.Errorf("%v: %v, %v; want %v", c.config, evicts, err, c.evicts)
		}
	}
}

func TestErrorsAreOfAFewKinds(t *testing.T) {
	store := redisstore.New(redistest.Start(t).Client())
	for want, err := range map[string]error{
		"away": redisstore.ErrAway, "timeout": redisstore.ErrTimeout, "busy": redisstore.ErrBusy, "": errors.New("ERR"),
	} {
		if got := store.ErrorKind(fmt.Errorf("wrapped: %w", err)); got != want {
			t.Errorf("%v is of kind %q, want %q", err, got, want)
		}
	}
}
