package frozen

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	ratelimit "github.com/ratelimit-go/ratelimit/nethttp"
)

const (
	// rate is the load on a site, requests a second.
	rate = 2000
	// idle connections are kept by the clients, with three goroutines each at both ends.
	idle = 1000
)

// span is when something began and ended.
type span struct{ from, to time.Time }

func (s span) took() time.Duration { return s.to.Sub(s.from) }

// visit is what a client saw, from when its request was due.
type visit struct {
	span
	status int
	away   bool
}

// site is a service in front of a store.
type site struct {
	*httptest.Server
	client *http.Client
	log    *lines

	mu      sync.Mutex
	visits  []visit // protected by mu
	handled []span  // of the server's side, from the handler's begin to its end; protected by mu

	inside     atomic.Int64 // requests that are not answered yet
	requests   int64        // at once, at most
	goroutines int64        // at once, at most
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
	s := &site{log: new(lines), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: idle}}}
	limits := ratelimit.With(ratelimit.Options{Store: store, Logger: slog.New(slog.NewTextHandler(s.log, nil))})
	limited := limits.New(policy)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if results := ratelimit.Results(r); len(results) > 0 && results[0].StoreAway {
			w.Header().Set("Away", "yes")
		}
	}))
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		limited.ServeHTTP(w, r)
		ended := time.Now()
		s.mu.Lock()
		s.handled = append(s.handled, span{began, ended})
		s.mu.Unlock()
	}))
	return s
}

// load sends requests at the rate, whether they are answered or not.
func (s *site) load(t *testing.T, length time.Duration) {
	var done sync.WaitGroup
	began := time.Now()
	for i := range int(length.Seconds() * rate) {
		due := began.Add(time.Duration(i) * time.Second / rate)
		time.Sleep(time.Until(due))
		done.Go(func() { s.visit(t, due) })
		s.requests = max(s.requests, s.inside.Load())
		s.goroutines = max(s.goroutines, int64(runtime.NumGoroutine()))
	}
	done.Wait()
}

func (s *site) visit(t *testing.T, due time.Time) {
	s.inside.Add(1)
	defer s.inside.Add(-1)
	response, err := s.client.Get(s.URL)
	if err != nil {
		t.Error(err)
		return
	}
	_, _ = io.Copy(io.Discard, response.Body)
	response.Body.Close()
	v := visit{span{due, time.Now()}, response.StatusCode, response.Header.Get("Away") != "" || response.StatusCode == http.StatusServiceUnavailable}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visits = append(s.visits, v)
}

// close ends the service and its clients.
func (s *site) close() {
	s.Close()
	s.client.CloseIdleConnections()
}

// times are some of those that something took.
type times struct{ middle, p99, slowest time.Duration }

func timesOf(spans []span) times {
	var all []time.Duration
	for _, one := range spans {
		all = append(all, one.took())
	}
	slices.Sort(all)
	return times{all[len(all)/2], all[len(all)*99/100], all[len(all)-1]}
}

func (t times) String() string {
	return fmt.Sprintf("p50 %v, p99 %v, slowest %v", t.middle, t.p99, t.slowest)
}
