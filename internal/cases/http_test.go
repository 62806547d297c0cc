package cases_test

import (
	"bytes"
	"log"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// directus/directus PR17296: a wait with decimals.
func Test_B35_WaitsAreWholeSeconds(t *testing.T) {
	whole := regexp.MustCompile(`^[0-9]+$`)
	for _, period := range []time.Duration{1500 * time.Millisecond, 100 * time.Millisecond} {
		inFrameworks(t, func() app { return app{policies: []core.Policy{core.Per(1, period)}, handler: ok} }, func(t *testing.T, url string) {
			for i := range 3 {
				got := send(t, "GET", url)
				if reset := got.Header.Get("RateLimit-Reset"); !whole.MatchString(reset) {
					t.Errorf("RateLimit-Reset %q", reset)
				}
				wait := got.Header.Get("Retry-After")
				if refused := got.StatusCode == 429; refused != (i > 0) || refused && (!whole.MatchString(wait) || wait == "0") || !refused && wait != "" {
					t.Errorf("status %d, Retry-After %q", got.StatusCode, wait)
				}
			}
		})
	}
}

// express-rate-limit/express-rate-limit PR161: fields were set after the answer had
// begun.
func Test_B48_NothingIsWrittenAfterTheHandler(t *testing.T) {
	for name, handler := range handlers {
		for _, outcome := range []string{"flush", "panic"} {
			t.Run(name+" "+outcome, func(t *testing.T) {
				var text bytes.Buffer
				served := httptest.NewUnstartedServer(handler(app{
					policies: []core.Policy{core.PerMinute(5).Counting(core.CountFailures)},
					handler: func(w http.ResponseWriter, _ *http.Request) {
						w.WriteHeader(202)
						_ = http.NewResponseController(w).Flush()
						if outcome == "panic" {
							panic(http.ErrAbortHandler)
						}
					},
				}))
				served.Config.ErrorLog = log.New(&text, "", 0)
				served.Start()
				response, err := http.Get(served.URL)
				if err != nil {
					t.Fatal(err)
				}
				response.Body.Close()
				served.Close() // waits for the handler
				if left := response.Header.Get("RateLimit-Remaining"); response.StatusCode != 202 || left != "4" {
					t.Errorf("status %d, %q remain", response.StatusCode, left)
				}
				if text.Len() > 0 {
					t.Errorf("the server logs: %s", text.String())
				}
			})
		}
	}
}

// JGLTechnologies/gin-rate-limit#2, koajs/ratelimit PR6: the handler ran after a
// refusal, where a function of the user's forgot to abort.
func Test_B83_NoHandlerRunsAfterARefusal(t *testing.T) {
	for _, refusal := range []int{0, 418} {
		var calls *atomic.Int64
		inFrameworks(t, func() app {
			calls = new(atomic.Int64)
			count := calls
			return app{refusal: refusal, policies: []core.Policy{core.PerMinute(1)}, handler: func(w http.ResponseWriter, r *http.Request) {
				count.Add(1)
				ok(w, r)
			}}
		}, func(t *testing.T, url string) {
			for i := range 3 {
				want := 200
				if i > 0 {
					want = map[int]int{0: 429, 418: 418}[refusal]
				}
				if got := send(t, "GET", url); got.StatusCode != want || i > 0 && strings.Contains(got.body, "ok") {
					t.Errorf("request %d: status %d, %s", i+1, got.StatusCode, got.body)
				}
			}
			if n := calls.Load(); n != 1 {
				t.Errorf("the handler ran %d times", n)
			}
		})
	}
}
