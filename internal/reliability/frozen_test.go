package reliability

import (
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
	ratelimit "github.com/ratelimit-go/ratelimit/nethttp"
)

var rate = flag.Int("rate", 500, "requests a second of TestAFrozenServerUnderLoad")

const (
	deadline = 100 * time.Millisecond
	// grace is wide: the race detector, and a machine that other tests share.
	grace = 900 * time.Millisecond
)

// visit is what a client saw.
type visit struct {
	began  time.Time
	took   time.Duration
	status int
	away   bool
}

// site is a service in front of a store.
type site struct {
	*httptest.Server
	client *http.Client
	log    *lines

	mu     sync.Mutex
	visits []visit // protected by mu
	most   int     // goroutines, protected by mu
}

// lines are what was logged.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func newSite(store core.Store, policy core.Policy) *site {
	s := &site{log: new(lines), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}}}
	limits := ratelimit.With(ratelimit.Options{Store: store, Logger: slog.New(slog.NewTextHandler(s.log, nil))})
	s.Server = httptest.NewServer(limits.New(policy)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if results := ratelimit.Results(r); len(results) > 0 && results[0].StoreAway {
			w.Header().Set("Away", "yes")
		}
	})))
	return s
}

// load sends requests at the rate, whether they are answered or not.
func (s *site) load(t *testing.T, length time.Duration) {
	var done sync.WaitGroup
	const beat = 5 * time.Millisecond
	began, sent := time.Now(), 0
	for range time.Tick(beat) {
		past := time.Since(began)
		if past > length {
			break
		}
		for ; sent < int(past.Milliseconds())**rate/1000; sent++ {
			done.Go(func() { s.visit(t) })
		}
		s.mu.Lock()
		s.most = max(s.most, runtime.NumGoroutine())
		s.mu.Unlock()
	}
	done.Wait()
}

func (s *site) visit(t *testing.T) {
	began := time.Now()
	response, err := s.client.Get(s.URL)
	if err != nil {
		t.Error(err)
		return
	}
	_, _ = io.Copy(io.Discard, response.Body)
	response.Body.Close()
	v := visit{began, time.Since(began), response.StatusCode, response.Header.Get("Away") != "" || response.StatusCode == http.StatusServiceUnavailable}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visits = append(s.visits, v)
}

// A server that is frozen under load harms nobody for longer than the deadline, and
// nothing a second after the thaw.
func TestAFrozenServerUnderLoad(t *testing.T) {
	for name, policy := range map[string]core.Policy{
		"closed": closed(core.PerHour(1_000_000).Named("p")),
		"local":  core.PerHour(1_000_000).Named("p"),
		"open":   core.PerHour(1_000_000).Named("p").WhenStoreAway(core.Open),
	} {
		t.Run(name, func(t *testing.T) { freezeUnderLoad(t, name, policy) })
	}
}

func freezeUnderLoad(t *testing.T, name string, policy core.Policy) {
	own := redistest.Start(t)
	client := redis.NewClient(&redis.Options{Addr: own.Addr()})
	s := newSite(redisstore.New(client, redisstore.Timeout(deadline)), policy)
	frozen, thawed := make(chan time.Time, 1), make(chan time.Time, 1)
	time.AfterFunc(time.Second, func() { own.Freeze(); frozen <- time.Now() })
	time.AfterFunc(2500*time.Millisecond, func() { own.Thaw(); thawed <- time.Now() })
	s.load(t, 4*time.Second)
	connections := client.PoolStats().TotalConns
	s.judge(t, <-frozen, <-thawed, name == "closed")
	s.Close()
	s.client.CloseIdleConnections()
	client.Close()
	if connections > uint32(client.Options().PoolSize) || s.most > 3**rate {
		t.Errorf("%d connections, %d goroutines", connections, s.most)
	}
	nothingIsLeft(t)
	if n := strings.Count(s.log.text.String(), "the store is away"); n == 0 || n > 50 {
		t.Errorf("%d lines tell that it is away: %s", n, s.log.text.String())
	}
}

func (s *site) judge(t *testing.T, frozen, thawed time.Time, refuses bool) {
	t.Helper()
	var times []time.Duration
	away, late, after, recovery := 0, 0, 0, time.Duration(0)
	for _, v := range s.visits {
		times = append(times, v.took)
		isLate := v.began.After(thawed.Add(time.Second))
		if isLate {
			after++
		}
		switch {
		case v.away && isLate: // a hiccup of the machine
			late++
		case v.away:
			away++
			recovery = max(recovery, v.began.Sub(thawed))
		}
		if v.took > deadline+grace {
			t.Errorf("a visit at %v from the freeze took %v", v.began.Sub(frozen), v.took)
		}
		if want := http.StatusOK; v.status != want && !(refuses && v.away) {
			t.Errorf("a visit at %v from the freeze was answered %d", v.began.Sub(frozen), v.status)
		}
	}
	if away < *rate/2 {
		t.Errorf("%d visits met a store that is away for a second", away)
	}
	if late > after/10 || after == 0 {
		t.Errorf("%d of %d visits met a store that is away, a second and more after the thaw", late, after)
	}
	t.Logf("%d visits, %d while away; p99 %v, slowest %v; recovery %v; at most %d goroutines", len(times), away,
		percentile(times, 99), times[len(times)-1], recovery, s.most)
}

// nothingIsLeft waits until no goroutine is in the code of the store or of its client.
func nothingIsLeft(t *testing.T) {
	t.Helper()
	var left string
	eventually(t, "no goroutine is left of the store", 10*time.Second, func() bool {
		stacks := make([]byte, 8<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		left = ""
		for stack := range strings.SplitSeq(string(stacks), "\n\n") {
			if strings.Contains(stack, "/core/redisstore.") || strings.Contains(stack, "go-redis/v9") {
				left = stack
			}
		}
		return left == ""
	})
}
