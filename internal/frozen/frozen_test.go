package frozen

import (
	"math"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/heartbeat"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

const (
	deadline = 100 * time.Millisecond
	// grace is what an answer may take beyond the deadline, on a machine that never
	// stands still.
	grace = 50 * time.Millisecond
	// limit is reached by the server's count half a second after the thaw.
	limit = 3 * rate / 2
)

func TestMain(m *testing.M) {
	logging.Disable() // the server is away here on purpose
	os.Exit(m.Run())
}

// A server that is frozen under load harms nobody for longer than the deadline, and
// nothing a second after the thaw. Never more is admitted than the limit, and what each
// StoreAway admits without the server.
func TestAFrozenServerUnderLoad(t *testing.T) {
	policy := core.PerDay(limit).FixedWindow().Named("p")
	for name, c := range map[string]struct {
		policy   core.Policy
		mostAway int // admitted without the server
	}{
		"closed": {policy.WhenStoreAway(core.Closed), 0},
		"local":  {policy, limit},
		"open":   {policy.WhenStoreAway(core.Open), math.MaxInt},
	} {
		t.Run(name, func(t *testing.T) { freezeUnderLoad(t, c.policy, c.mostAway) })
	}
}

func freezeUnderLoad(t *testing.T, policy core.Policy, mostAway int) {
	own := redistest.Start(t)
	before := goleak.IgnoreCurrent()
	client := redis.NewClient(&redis.Options{Addr: own.Addr()})
	s := newSite(redisstore.New(client, redisstore.Timeout(deadline), redisstore.RememberRefusals(0)), policy)
	heart := heartbeat.Start()
	thawed := make(chan time.Time, 1)
	time.AfterFunc(time.Second, own.Freeze)
	time.AfterFunc(2500*time.Millisecond, func() { own.Thaw(); thawed <- time.Now() })
	s.load(t, 4*time.Second)
	connections := client.PoolStats().TotalConns
	heart.Stop()
	s.close()
	client.Close()
	s.judgeTimes(t, heart)
	s.judgeRecovery(t, heart, <-thawed)
	s.judgeAdmitted(t, mostAway)
	if connections > uint32(client.Options().PoolSize) || s.goroutines > 6*s.requests+3*idle {
		t.Errorf("%d connections, %d goroutines for %d requests", connections, s.goroutines, s.requests)
	}
	t.Logf("%d connections; %d goroutines for %d requests at most; the machine stood still for %v at worst", connections, s.goroutines, s.requests, heart.Worst())
	s.judgeRest(t, before)
}

// judgeTimes wants every answer in time: from the begin of the handler to its end and,
// where the machine never stood still, as the client sees it, from when it was due. For
// an answer, a goroutine is woken twice at least, so that it is late by twice what the
// heart is.
func (s *site) judgeTimes(t *testing.T, heart *heartbeat.Heart) {
	t.Helper()
	for _, h := range s.handled {
		if still := heart.Missed(h.from, h.to); h.took() > deadline+grace+2*still {
			t.Errorf("the handler took %v, of which the machine stood still for %v", h.took(), still)
		}
	}
	var seen []span
	for _, v := range s.visits {
		seen = append(seen, v.span)
	}
	handler, visitor := timesOf(s.handled), timesOf(seen)
	if heart.Worst() < grace/2 && visitor.slowest > deadline+grace {
		t.Errorf("a client waited %v", visitor.slowest)
	}
	t.Logf("%d answers; in the handler %v, at the client %v", len(seen), handler, visitor)
}

// judgeRecovery wants the server to decide again within a second of the thaw, but where
// the machine stood still.
func (s *site) judgeRecovery(t *testing.T, heart *heartbeat.Heart, thawed time.Time) {
	t.Helper()
	away, recovery := 0, time.Duration(0)
	for _, v := range s.visits {
		if !v.away {
			continue
		}
		away++
		recovery = max(recovery, v.from.Sub(thawed))
		still := heart.Missed(v.from.Add(-500*time.Millisecond), v.to)
		if since := v.from.Sub(thawed); since > time.Second && still < deadline/2 {
			t.Errorf("a visit met a store that is away, %v after the thaw", since)
		}
	}
	if away < rate {
		t.Errorf("%d visits met a store that is away for more than a second", away)
	}
	t.Logf("%d decided without the server, the last %v after the thaw", away, recovery)
}

func (s *site) judgeAdmitted(t *testing.T, mostAway int) {
	t.Helper()
	served, away := 0, 0
	for _, v := range s.visits {
		switch {
		case v.status == http.StatusOK && v.away:
			away++
		case v.status == http.StatusOK:
			served++
		case v.status == http.StatusServiceUnavailable && mostAway == 0 && v.away:
		case v.status != http.StatusTooManyRequests:
			t.Errorf("a visit was answered %d", v.status)
		}
	}
	if served > limit || away > mostAway {
		t.Errorf("%d admitted by the server and %d without it, at a limit of %d", served, away, limit)
	}
	t.Logf("%d admitted by the server and %d without it, at a limit of %d", served, away, limit)
}

// judgeRest wants no goroutine left, and no log that drowns the others.
func (s *site) judgeRest(t *testing.T, before goleak.Option) {
	t.Helper()
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
	if n := strings.Count(s.log.text.String(), "the store is away"); n == 0 || n > 50 {
		t.Errorf("%d lines tell that it is away: %s", n, s.log.text.String())
	}
}
