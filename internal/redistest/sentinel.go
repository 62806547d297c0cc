package redistest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// sentinels are as many as can outvote one of them.
const sentinels = 3

// Sentinels are a master, its replica, and three that watch them and promote the
// replica where the master is away for half a second.
type Sentinels struct {
	// Master is the one that was it at the start.
	Master *Server
	// Replica follows it.
	Replica *Server

	addrs []string
}

// StartSentinels starts them, and waits until all know each other. They end with the
// test. Config is as for [Start], of the master and the replica.
func StartSentinels(t testing.TB, config ...string) *Sentinels {
	t.Helper()
	s := &Sentinels{Master: Start(t, append([]string{"--repl-diskless-sync-delay", "0"}, config...)...)}
	host, port, err := net.SplitHostPort(s.Master.Addr())
	if err != nil {
		t.Fatal(err)
	}
	s.Replica = Start(t, append([]string{"--replicaof", host + " " + port}, config...)...)
	for range sentinels {
		s.watch(t, host, port)
	}
	s.await(t)
	return s
}

// watch starts a sentinel. It writes what it knows into its configuration.
func (s *Sentinels) watch(t testing.TB, host, port string) {
	t.Helper()
	addr, err := freeAddr()
	if err != nil {
		t.Fatal(err)
	}
	_, own, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "sentinel.conf")
	text := fmt.Sprintf("port %s\nbind 127.0.0.1\nsentinel monitor main %s %s 2\nsentinel down-after-milliseconds main 500\nsentinel failover-timeout main 3000\n", own, host, port)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	process := exec.Command(program(), file, "--sentinel")
	endWithParent(process)
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Kill() // it may have ended by itself
		_ = process.Wait()
	})
	s.addrs = append(s.addrs, addr)
}

// await waits until every sentinel knows the others and the replica, which has the data.
func (s *Sentinels) await(t testing.TB) {
	t.Helper()
	replica := s.Replica.Client()
	defer replica.Close()
	for _, addr := range s.addrs {
		watcher := redis.NewSentinelClient(&redis.Options{Addr: addr})
		defer watcher.Close()
		for end := time.Now().Add(startTime); ; time.Sleep(20 * time.Millisecond) {
			known, err := watcher.Master(context.Background(), "main").Result()
			info := replica.Info(context.Background(), "replication").Val()
			if known["num-slaves"] == "1" && known["num-other-sentinels"] == "2" && strings.Contains(info, "master_link_status:up") {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("the sentinels do not agree: %v, %v", err, known)
			}
		}
	}
}

// Client is a new client that asks the sentinels for the master. It is the caller's
// to close.
func (s *Sentinels) Client() *redis.Client {
	return redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "main", SentinelAddrs: s.addrs, MaxRetries: -1})
}
