// Package redistest starts real redis-server processes on free loopback ports, for
// tests. They keep nothing on disk, and end with the test. REDIS_SERVER in the
// environment names another program than the redis-server on the path, such as a
// valkey-server.
package redistest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	startTries = 5 // another process can take the port that was free
	startTime  = 10 * time.Second
)

// program is what runs as a server, and as a sentinel.
func program() string { return cmp.Or(os.Getenv("REDIS_SERVER"), "redis-server") }

// Server is a redis-server of its own. Its methods are for one goroutine, and panic
// where the operating system refuses them.
type Server struct {
	addr    string
	dir     string
	config  []string
	process *exec.Cmd
	ended   chan struct{} // closed when the process has
}

// Start starts a server that is killed at the test's end. Config is as on the
// command line of redis-server: "--maxmemory", "5mb". Without a redis-server the
// test fails.
func Start(t testing.TB, config ...string) *Server {
	t.Helper()
	s, err := Run(config...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// Run is Start for a TestMain, which must call Stop.
func Run(config ...string) (*Server, error) {
	if _, err := exec.LookPath(program()); err != nil {
		return nil, fmt.Errorf("these tests need a redis-server (apt-get install redis-server, or brew install redis): %w", err)
	}
	dir, err := os.MkdirTemp("", "redistest")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, config: config}
	for range startTries {
		if s.addr, err = freeAddr(); err != nil {
			break
		}
		if err = s.start(); err == nil {
			return s, nil
		}
	}
	_ = os.RemoveAll(dir) // the other error is the one to tell
	return nil, fmt.Errorf("%s does not start: %w", program(), err)
}

func freeAddr() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

func (s *Server) start() error {
	_, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		return err
	}
	args := []string{"--port", port, "--bind", "127.0.0.1", "--dir", s.dir, "--save", "", "--appendonly", "no"}
	s.process = exec.Command(program(), append(args, s.config...)...)
	endWithParent(s.process)
	if err := s.process.Start(); err != nil {
		return err
	}
	process, ended := s.process, make(chan struct{})
	s.ended = ended
	go func() {
		_ = process.Wait() // says how it ended, which is all one
		close(ended)
	}()
	if err := s.await(); err != nil {
		s.Kill()
		return err
	}
	return nil
}

// await waits until this very process answers: another may hold the port.
func (s *Server) await() error {
	if err := s.awaitPort(); err != nil {
		return err
	}
	client := s.Client()
	defer client.Close()
	info, err := client.Info(context.Background(), "server").Result()
	if err == nil && !strings.Contains(info, fmt.Sprintf("process_id:%d\r\n", s.process.Process.Pid)) {
		err = fmt.Errorf("another server answers at %s", s.addr)
	}
	return err
}

func (s *Server) awaitPort() error {
	for end := time.Now().Add(startTime); ; time.Sleep(5 * time.Millisecond) {
		connection, err := net.Dial("tcp", s.addr)
		if err == nil {
			return connection.Close()
		}
		select {
		case <-s.ended:
			return errors.New("it ended at once: its port was taken, or its configuration is wrong")
		default:
		}
		if time.Now().After(end) {
			return err
		}
	}
}

// Addr is where the server listens, "127.0.0.1:port".
func (s *Server) Addr() string { return s.addr }

// Client is a new client that gives up at once where the server is away. It is the
// caller's to close.
func (s *Server) Client() *redis.Client {
	return redis.NewClient(&redis.Options{Addr: s.addr, MaxRetries: -1, DialerRetries: 1})
}

// Stop kills the server and removes its directory.
func (s *Server) Stop() {
	s.Kill()
	must(os.RemoveAll(s.dir))
}

// Kill kills the server, also a frozen one. All that it kept is lost.
func (s *Server) Kill() {
	if s.process == nil {
		return
	}
	_ = s.process.Process.Kill() // it may have ended by itself
	<-s.ended
	s.process = nil
}

// Restart kills the server and starts it anew, empty, at the same address.
func (s *Server) Restart() {
	s.Kill()
	must(s.start())
}

func must(err error) {
	if err != nil {
		panic("redistest: " + err.Error())
	}
}
