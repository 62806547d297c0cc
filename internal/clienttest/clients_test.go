package clienttest

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/ratelimit-go/ratelimit/core"
)

// client asks once for an address, and again when the answer tells it to. It fails
// the test unless the last answer is a success.
type client func(t *testing.T, url string)

func clients(t *testing.T) map[string]client {
	folder := installed(t)
	return map[string]client{
		"curl": func(t *testing.T, url string) {
			run(t, "curl", "--silent", "--show-error", "--fail", "--retry", "3", url)
		},
		"go-retryablehttp": func(t *testing.T, url string) {
			c := retryablehttp.NewClient()
			c.Logger = nil
			answer, err := c.Get(url)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				t.Errorf("the last answer is %d", answer.StatusCode)
			}
		},
		"axios-retry": func(t *testing.T, url string) {
			run(t, "node", filepath.Join(folder, "axios.js"), url)
		},
	}
}

// installed is a folder with the npm clients of testdata/npm, in the versions of
// its lock file.
func installed(t *testing.T) string {
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("testdata/npm")); err != nil {
		t.Fatal(err)
	}
	run(t, "npm", "ci", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund")
	return folder
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Fatalf("%s is not installed: install curl, node and npm (Debian: apt-get install curl nodejs npm)", name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if said, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, said)
	}
}

// scene is a server that turns the next request away once, with a time to wait.
type scene struct {
	name       string
	store      func() core.Store // nil: in memory
	policies   []core.Policy
	used       int // requests that use up the limit first
	status     int
	retryAfter string
}

var scenes = []scene{
	{"a window of 2 s", nil, []core.Policy{core.Per(1, 2*time.Second).SlidingWindowLog().Named("log")}, 1, 429, "2"},
	{"a fraction of a second", nil, []core.Policy{core.PerSecond(2).TokenBucket(1).Named("bucket")}, 1, 429, "1"},
	{"the longer of two", nil, []core.Policy{
		core.PerSecond(1).SlidingWindowLog().Named("short"),
		core.Per(2, 2*time.Second).SlidingWindowLog().Named("long"),
		core.Per(1, 3*time.Second).TokenBucket(1).Named("slow"),
	}, 1, 429, "3"},
	{"the store is away", func() core.Store { return &flaky{Store: core.NewMemory()} }, []core.Policy{
		core.PerMinute(60).Named("closed").WhenStoreAway(core.Closed),
	}, 0, 503, "1"},
}

// given is the scene's store.
func (s scene) given() core.Store {
	if s.store == nil {
		return nil
	}
	return s.store()
}

// flaky is a store that does not answer the first time.
type flaky struct {
	core.Store
	asked atomic.Bool
}

func (f *flaky) Take(ctx context.Context, now time.Time, asks []core.Ask) error {
	if !f.asked.Swap(true) {
		return errors.New("connection refused")
	}
	return f.Store.Take(ctx, now, asks)
}

func TestClientsComeBackWhenTold(t *testing.T) {
	for name, ask := range clients(t) {
		for _, scene := range scenes {
			comesBack(t, "net/http/"+name, ask, scene, onNetHTTP)
			comesBack(t, "fiber/"+name, ask, scene, onFiber)
		}
	}
}

func comesBack(t *testing.T, name string, ask client, scene scene, serve framework) {
	t.Run(name+"/"+scene.name, func(t *testing.T) {
		t.Parallel()
		s := serve(t, scene)
		for range scene.used {
			use(t, s.URL)
		}
		ask(t, s.URL)
		cameBack(t, s.seen()[scene.used:], scene)
	})
}

// use is a request that is admitted, of a client that does not come back.
func use(t *testing.T, url string) {
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("status %d, want 200", answer.StatusCode)
	}
}

// cameBack checks that a client was turned away once, waited as long as it was
// told, and no more than its own jitter longer, and was admitted.
func cameBack(t *testing.T, visits []visit, scene scene) {
	if len(visits) != 2 || visits[0].status != scene.status || visits[1].status != http.StatusOK {
		t.Fatalf("visits %+v: want %d, then 200", visits, scene.status)
	}
	if visits[0].retryAfter != scene.retryAfter {
		t.Errorf("Retry-After %q, want %q", visits[0].retryAfter, scene.retryAfter)
	}
	told, _ := strconv.Atoi(visits[0].retryAfter)
	waited := visits[1].at.Sub(visits[0].at)
	if least := time.Duration(told) * time.Second; waited < least-20*time.Millisecond || waited > least+5*time.Second {
		t.Errorf("told to wait %d s, came back after %v", told, waited)
	}
}
