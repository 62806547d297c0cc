package redisstore_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/policies"
)

// childAddr is the variable that makes this test binary one of several instances of
// a service: the address of the server that they share.
const childAddr = "REDISSTORE_TEST_CHILD"

// childPrefix is the variable of the prefix that they share.
const childPrefix = "REDISSTORE_TEST_PREFIX"

// Long enough that no bucket gives back a unit while the test runs. The fixed window
// and the counter begin anew at boundaries since the epoch, once in 366 days.
const crowdLimit, crowdPeriod = 100, 366 * 24 * time.Hour

// child asks for each policy from 32 goroutines and prints how many it got.
func child(addr string) int {
	client := redis.NewClient(&redis.Options{Addr: addr})
	defer client.Close()
	store := redisstore.New(client, redisstore.Prefix(os.Getenv(childPrefix)), redisstore.Timeout(patience))
	for _, p := range policies.OneOfEach(crowdLimit, crowdPeriod) {
		limiter, err := core.NewLimiter(store, p)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		var admitted atomic.Int64
		var done sync.WaitGroup
		done.Add(32)
		for range 32 {
			go func() {
				defer done.Done()
				for range 4 {
					if r, err := limiter.Take(ctx, "k"); err == nil && r.Allowed {
						admitted.Add(1)
					}
				}
			}()
		}
		done.Wait()
		fmt.Println(p.Name, admitted.Load())
	}
	return 0
}

func TestFourProcessesAdmitTheLimitTogether(t *testing.T) {
	prefix := newPrefix()
	var outputs [4]string
	var done sync.WaitGroup
	done.Add(len(outputs))
	for i := range outputs {
		go func() {
			defer done.Done()
			process := exec.Command(os.Args[0])
			process.Env = append(os.Environ(), childAddr+"="+server.Addr(), childPrefix+"="+prefix)
			output, err := process.CombinedOutput()
			if err != nil {
				t.Errorf("process %d: %v: %s", i, err, output)
			}
			outputs[i] = string(output)
		}()
	}
	done.Wait()
	admitted := map[string]int{}
	for _, output := range outputs {
		for line := range strings.Lines(output) {
			name, count, _ := strings.Cut(strings.TrimSpace(line), " ")
			n, err := strconv.Atoi(count)
			if err != nil {
				t.Fatalf("a process says %q", line)
			}
			admitted[name] += n
		}
	}
	for _, p := range policies.OneOfEach(crowdLimit, crowdPeriod) {
		if admitted[p.Name] != crowdLimit {
			t.Errorf("%s: %d admitted of 4 x 32 x 4, at a limit of %d", p.Name, admitted[p.Name], crowdLimit)
		}
	}
}

// The instances' clocks cannot matter: what they send has no time in it.
func TestNoClockButTheServersDecides(t *testing.T) {
	monitor, err := net.Dial("tcp", server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer monitor.Close()
	fmt.Fprint(monitor, "MONITOR\r\n")
	lines := bufio.NewScanner(monitor)
	lines.Scan() // +OK

	prefix := newPrefix()
	limiter := newLimiter(t, newStore(t, server.Client(), redisstore.Prefix(prefix)), closed(core.Per(7, 3*time.Second).TokenBucket(11).Named("p")))
	take(t, limiter, "k")
	take(t, limiter, "k")
	for seen := 0; seen < 2 && lines.Scan(); {
		_, command, _ := strings.Cut(lines.Text(), "] ")
		if !strings.HasPrefix(command, `"evalsha"`) || !strings.Contains(command, prefix) {
			continue
		}
		_, sent, _ := strings.Cut(command, `:t3000000" `)
		numbers, err := strconv.Unquote(sent)
		if want := string(redisstore.Numbers(1, -1, 1, 1, 3, 7, 11, 1, 3_000_000, 1, 0, 0, 1, -1, 0, 0)); numbers != want {
			t.Errorf("sent %s (%v), want %q", sent, err, want)
		}
		seen++
	}
}
