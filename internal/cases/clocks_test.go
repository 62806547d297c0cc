package cases_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/internal/policies"
)

// golang/go#56287, golang/go#23145: timestamps that alternated credited the same time
// again and again.
func Test_B18_TimestampsThatAlternateMakeNoTokens(t *testing.T) {
	everywhere(t, 10, 10*time.Second, func(t *testing.T, s *scene) {
		s.advance(10 * time.Second)
		s.asks(t, 10, 0)
		for i := range 500 {
			s.advance(-5 * time.Second)
			before := s.ask(t).Allowed
			s.advance(5 * time.Second)
			if before || s.ask(t).Allowed {
				t.Fatalf("round %d: admitted out of nothing", i)
			}
		}
	})
}

// golang/go#56287: a step further back than a key's reset time is a new start, and
// costs at most one capacity.
func Test_B18_ALongStepBackCostsOneCapacity(t *testing.T) {
	everywhere(t, 10, time.Second, func(t *testing.T, s *scene) {
		s.advance(time.Minute)
		admitted := s.asks(t, 50, 0)
		s.advance(-30 * time.Second)
		if again := s.asks(t, 50, 0); admitted != 10 || again != 10 {
			t.Errorf("%d admitted, and %d after a step back, want 10 and 10", admitted, again)
		}
	})
}

// sethvargo/go-limiter#41, varnish/libvmod-vsthrottle#4,
// ProfessionalWiki/MediaWiki-MCP-Server#557: a clock set back locked callers out.
func Test_B19_AClockSetBackLocksNobodyOut(t *testing.T) {
	for name, jumps := range map[string][]time.Duration{
		"two days back":            {-48 * time.Hour},
		"an hour forward and back": {time.Hour, -time.Hour},
		"half a period back":       {-5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, 10, 10*time.Second, func(t *testing.T, s *scene) {
				for _, jump := range jumps {
					s.ask(t)
					s.advance(jump)
				}
				admitted := 0
				for range 20 {
					r := s.ask(t)
					if r.Allowed {
						admitted++
					} else if r.RetryAfter > 2*10*time.Second+5*time.Second {
						t.Fatalf("told to wait %v", r.RetryAfter)
					}
				}
				if admitted < 8 || admitted > 10 {
					t.Errorf("%d of 20 admitted after the jump, want 8 to 10", admitted)
				}
				s.advance(15 * time.Second) // the half period that the state was ahead, and one period
				if s.asks(t, 20, time.Second) < 8 {
					t.Error("still locked out a period later")
				}
			})
		})
	}
}

// spring-cloud/spring-cloud-gateway PR1688, symfony/symfony PR44354, fluojs/fluo#1394:
// servers with different clocks. In life the store has the only clock; times that are
// passed in are merged by the later one.
func Test_B20_SkewedClocksShareOneLimit(t *testing.T) {
	for _, skew := range []time.Duration{10 * time.Microsecond, time.Second, 10 * time.Second} {
		for _, p := range policies.OneOfEach(4, 20*time.Second) {
			onStores(t, func(t *testing.T, store core.Store) {
				ahead, behind := newScene(t, store, p), newScene(t, store, p)
				ahead.advance(time.Second)
				behind.advance(time.Second - skew)
				first := ahead.asks(t, 4, 0)
				more := behind.asks(t, 1, 0) + ahead.asks(t, 4, 0)
				if first != 4 || more != 0 {
					t.Errorf("%s, %v apart: %d admitted of 4, and then %d", p.Name, skew, first, more)
				}
			})
		}
	}
}

// symfony/symfony PR44354: microseconds before a window that another has opened.
func Test_B20_MicrosecondsBeforeAWindow(t *testing.T) {
	everywhere(t, 4, 2*time.Second, func(t *testing.T, s *scene) {
		s.ask(t)
		s.advance(-10 * time.Microsecond)
		if r := s.ask(t); !r.Allowed || remaining(r) != 2 {
			t.Errorf("allowed %v, %d remain, want the window that is open", r.Allowed, remaining(r))
		}
	})
}

// Kong/kong#2817, epam/ai-dial-core#1951, mailgun/gubernator PR25: windows that hung on
// the host's time zone. A day is 24 hours here, from midnight UTC, in every zone.
func Test_B28_TimeZonesChangeNothing(t *testing.T) {
	winter, summer := time.FixedZone("CET", 3600), time.FixedZone("CEST", 2*3600)
	for _, day := range []time.Time{
		time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC),
		time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC), time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC), time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC),
	} {
		onStores(t, func(t *testing.T, store core.Store) {
			s := newScene(t, store, closed(core.PerDay(1).FixedWindow().Named("day")))
			for _, step := range []struct {
				at      time.Time
				allowed bool
			}{
				{day, true}, {day.Add(time.Hour).In(winter), false}, {day.Add(23*time.Hour + 59*time.Minute).In(summer), false},
				{day.Add(24 * time.Hour).In(winter), true}, {day.Add(24 * time.Hour).In(summer), false},
			} {
				s.Time = step.at
				if got := s.ask(t).Allowed; got != step.allowed {
					t.Errorf("%v: allowed %v", step.at, got)
				}
			}
		})
	}
}

// X8: a time without its monotonic part, rounded or read from JSON, decides the same.
func Test_X8_TimesWithoutAMonotonicPart(t *testing.T) {
	everywhere(t, 2, time.Minute, func(t *testing.T, s *scene) {
		s.Time = time.Now()
		s.asks(t, 2, 0)
		s.advance(30 * time.Second)
		want := takeN(t, s.Limiter, 0, "k")
		text, err := json.Marshal(s.Time)
		if err != nil {
			t.Fatal(err)
		}
		var read time.Time
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		for _, now := range []time.Time{s.Round(0), read, read.UTC()} {
			s.Time = now
			if got := takeN(t, s.Limiter, 0, "k"); got.Decision(0) != want.Decision(0) {
				t.Errorf("%+v, want %+v", got.Decision(0), want.Decision(0))
			}
		}
	})
}
