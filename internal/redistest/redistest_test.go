package redistest

import (
	"context"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

// TestAServerTellsWhatItIs prints which server these tests are about.
func TestAServerTellsWhatItIs(t *testing.T) {
	client := Start(t).Client()
	defer client.Close()
	info := client.InfoMap(context.Background(), "server")
	name, version := "redis", info.Item("Server", "redis_version")
	if info.Item("Server", "server_name") == "valkey" { // which tells of a redis_version too
		name, version = "valkey", info.Item("Server", "valkey_version")
	}
	if version == "" {
		t.Fatalf("it does not say which it is: %v", info.Val())
	}
	t.Logf("%s answers: %s-%s", program(), name, version)
}

func TestTheLifeOfAServer(t *testing.T) {
	logging.Disable()
	ctx := context.Background()
	s := Start(t, "--maxmemory", "50mb")
	client := s.Client()
	defer client.Close()
	if limit := client.ConfigGet(ctx, "maxmemory").Val()["maxmemory"]; limit != "52428800" {
		t.Errorf("maxmemory is %q", limit)
	}
	if err := client.Set(ctx, "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}

	s.Freeze()
	answered := make(chan error, 1)
	go func() { answered <- client.Ping(ctx).Err() }()
	select {
	case err := <-answered:
		t.Errorf("a frozen server answers: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	s.Thaw()
	if err := <-answered; err != nil {
		t.Errorf("after the thaw: %v", err)
	}

	s.Kill()
	if err := client.Ping(ctx).Err(); err == nil {
		t.Error("a killed server answers")
	}
	s.Restart()
	if n, err := client.Exists(ctx, "k").Result(); n != 0 || err != nil {
		t.Errorf("after a restart: %d keys, %v", n, err)
	}

	s.Stop()
	if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
		t.Errorf("its directory is still there: %v", err)
	}
}

func TestAMissingServerIsNamedWithTheMend(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("REDIS_SERVER", "")
	if _, err := Run(); err == nil || !strings.Contains(err.Error(), "apt-get install redis-server") {
		t.Errorf("%v", err)
	}
}

func TestAServerThatDoesNotStartIsAnError(t *testing.T) {
	if s, err := Run("--maxmemory", "not a number"); err == nil {
		s.Stop()
		t.Error("a server with a wrong configuration has started")
	}
}

func TestAClusterIsWhole(t *testing.T) {
	ctx := context.Background()
	c := StartCluster(t, 1)
	client := c.Client()
	defer client.Close()
	for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
		if err := client.Set(ctx, key, key, 0).Err(); err != nil {
			t.Error(err)
		}
	}
	var masters atomic.Int64
	err := client.ForEachMaster(ctx, func(context.Context, *redis.Client) error { masters.Add(1); return nil })
	if err != nil || masters.Load() != 3 {
		t.Errorf("%d masters, %v", masters.Load(), err)
	}
	if len(c.Replicas) != 3 {
		t.Errorf("%d replicas", len(c.Replicas))
	}
}
