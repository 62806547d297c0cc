package reliability

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/passes"
	"github.com/ratelimit-go/ratelimit/internal/policies"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

const (
	// serviceStore names the store of a child of the tests: "memory", or a server's
	// address. Such a child is a service, and runs no tests.
	serviceStore = "RELIABILITY_SERVICE_STORE"

	serviceCount  = 20
	servicePeriod = 500 * time.Millisecond
)

// serve asks each of the algorithms without end, and writes down whom it admits.
func serve(address string) {
	var store core.Store = core.NewMemory()
	if address != "memory" {
		store = redisstore.New(redis.NewClient(&redis.Options{Addr: address}))
	}
	var writing sync.Mutex
	for _, p := range policies.OneOfEach(serviceCount, servicePeriod) {
		l, err := core.NewLimiter(store, p)
		if err != nil {
			panic(err)
		}
		crowd(2, func(int64) {
			asked := time.Now()
			if r, err := l.Take(ctx, "k"); err == nil && r.Allowed {
				writing.Lock()
				fmt.Println(p.Name, asked.UnixNano(), time.Now().UnixNano())
				writing.Unlock()
			}
			time.Sleep(time.Millisecond)
		})
	}
	select {}
}

// service is such a child.
type service struct {
	*exec.Cmd
	read   sync.WaitGroup
	passes map[string][]passes.Pass // by policy; to be read once it has ended
}

func startService(t *testing.T, address string) *service {
	t.Helper()
	s := &service{Cmd: exec.Command(os.Args[0]), passes: map[string][]passes.Pass{}}
	s.Env = append(os.Environ(), serviceStore+"="+address)
	s.Stderr = os.Stderr
	output, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Process.Kill() }) // it has ended, unless the test failed
	s.read.Go(func() { s.note(output) })
	return s
}

func (s *service) note(output io.Reader) {
	for lines := bufio.NewScanner(output); lines.Scan(); {
		var policy string
		var asked, answered int64
		if n, _ := fmt.Sscan(lines.Text(), &policy, &asked, &answered); n == 3 {
			s.passes[policy] = append(s.passes[policy], passes.Pass{Asked: time.Unix(0, asked), Answered: time.Unix(0, answered)})
		}
	}
}

// end ends it. Until then it must have lived.
func (s *service) end(t *testing.T) {
	t.Helper()
	s.signal(t, os.Interrupt)
	s.read.Wait()
	if text := fmt.Sprint(s.Wait()); !strings.Contains(text, "interrupt") {
		t.Errorf("the service has ended by itself: %s", text)
	}
}

func (s *service) signal(t *testing.T, signal os.Signal) {
	t.Helper()
	if err := s.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// suspended is what stands still for two seconds.
type suspended struct{ process, server bool }

func (c suspended) sleep(t *testing.T, s *service, server *redistest.Server) {
	t.Helper()
	if c.process {
		s.signal(t, syscall.SIGSTOP)
	}
	if c.server {
		server.Freeze()
	}
	time.Sleep(2 * time.Second)
	server.Thaw()
	s.signal(t, syscall.SIGCONT)
}

// A process is suspended, its server, or both. Nobody is locked out longer than twice a
// key's reset time, and no window admits more than it does else.
func TestASuspendedMachine(t *testing.T) {
	for name, c := range map[string]struct {
		redis bool
		suspended
	}{
		"in memory":                    {false, suspended{process: true}},
		"on Redis, the process":        {true, suspended{process: true}},
		"on Redis, the server":         {true, suspended{server: true}},
		"on Redis, process and server": {true, suspended{process: true, server: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, address := redistest.Start(t), "memory"
			if c.redis {
				address = server.Addr()
			}
			s := startService(t, address)
			time.Sleep(1500 * time.Millisecond)
			c.sleep(t, s, server)
			woken := time.Now()
			time.Sleep(2 * time.Second)
			s.end(t)
			for _, p := range policies.OneOfEach(serviceCount, servicePeriod) {
				s.judge(t, p, woken)
			}
		})
	}
}

// judge wants what the policy admits in a window, wherever that begins: its limit in a
// log, a limit more where windows or buckets are filled at once.
func (s *service) judge(t *testing.T, p core.Policy, woken time.Time) {
	t.Helper()
	allowed := 2 * serviceCount
	if p.Algorithm == core.SlidingWindowLog {
		allowed = serviceCount
	}
	var after []passes.Pass
	for _, one := range s.passes[p.Name] {
		if one.Asked.After(woken) {
			after = append(after, one)
		}
	}
	if len(after) == 0 {
		t.Fatalf("%s: nobody was admitted any more", p.Name)
	}
	most, locked := passes.Most(s.passes[p.Name], servicePeriod), after[0].Asked.Sub(woken)
	if most > allowed || most < serviceCount*9/10 {
		t.Errorf("%s: %d admitted in a window, want %d at most", p.Name, most, allowed)
	}
	if locked > 2*servicePeriod {
		t.Errorf("%s: nobody was admitted for %v after it", p.Name, locked)
	}
	t.Logf("%s: %d admitted in a window, allowed are %d; the first one %v after it", p.Name, most, allowed, locked.Round(time.Millisecond))
}
