package debug_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/debug"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
	"github.com/ratelimit-go/ratelimit/metrics/tally"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

// scene is a handler that knows some policies on a store.
type scene struct {
	*testing.T
	shown   *debug.Handler
	limiter *core.Limiter
}

func newScene(t *testing.T, o debug.Options, policies ...core.Policy) scene {
	t.Helper()
	store := core.NewMemory()
	t.Cleanup(func() { _ = store.Close() })
	return newSceneOn(t, store, o, policies...)
}

func newSceneOn(t *testing.T, store core.Store, o debug.Options, policies ...core.Policy) scene {
	t.Helper()
	limiter, err := core.NewLimiter(store, policies...)
	if err != nil {
		t.Fatal(err)
	}
	shown := debug.New(o)
	shown.Mounted(pipeline.Mount{Store: store, Limiter: limiter, Policies: policies})
	return scene{t, shown, limiter}
}

func (s scene) take(times int, keys ...string) {
	s.Helper()
	for range times {
		r, err := s.limiter.Take(context.Background(), keys...)
		if err != nil {
			s.Fatal(err)
		}
		outcome := pipeline.Admitted
		if !r.Allowed {
			outcome = pipeline.Refused
		}
		s.shown.Decided("GET /", &r, outcome, 0)
	}
}

// reply is the JSON answer.
type reply struct {
	Policies []debug.Policy `json:"policies"`
	Heaviest []debug.Client `json:"most_refused"`
	Report   debug.Report   `json:"report"`
	Done     string         `json:"done"`
	Error    string         `json:"error"`
}

// send sends a form, in the URL of a GET or in the body of a POST.
func (s scene) send(method, form string, fields ...string) (int, reply) {
	s.Helper()
	request := httptest.NewRequest(method, "/debug", strings.NewReader(form))
	if method == "GET" {
		request = httptest.NewRequest(method, "/debug?"+form, nil)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Accept", "application/json")
	for i := 0; i < len(fields); i += 2 {
		request.Header.Set(fields[i], fields[i+1])
	}
	answer := httptest.NewRecorder()
	s.shown.ServeHTTP(answer, request)
	var got reply
	if err := json.Unmarshal(answer.Body.Bytes(), &got); err != nil {
		s.Fatalf("%v: %s", err, answer.Body)
	}
	return answer.Code, got
}

func anybody(*http.Request) bool { return true }

func TestWhyInEveryAlgorithm(t *testing.T) {
	server := redistest.Start(t)
	memory := core.NewMemory()
	defer memory.Close()
	t.Run("in memory", func(t *testing.T) { why(t, memory) })
	t.Run("on Redis", func(t *testing.T) { why(t, redisstore.New(server.Client())) })
}

func why(t *testing.T, store core.Store) {
	for _, policy := range []core.Policy{
		core.PerHour(3).SlidingWindowCounter(1).Named("p"), core.PerHour(3).FixedWindow().Named("p"), core.PerHour(3).SlidingWindowLog().Named("p"),
		core.PerHour(3).TokenBucket(3).Named("p"), core.PerHour(3).LeakyBucket(3).Named("p"),
	} {
		t.Run(policy.Algorithm.String(), func(t *testing.T) {
			s := newSceneOn(t, store, debug.Options{Authorize: anybody}, policy)
			for _, step := range []struct {
				name            string
				takes           int
				form            string
				allowed         bool
				used, remaining int64
				blocked, waits  bool
				says            string
			}{
				{"never seen", 0, "", true, 0, 3, false, false, "used nothing"},
				{"one of three", 1, "", true, 1, 2, false, false, "not used up"},
				{"looked at again, nothing is charged", 0, "", true, 1, 2, false, false, "not used up"},
				{"all of three", 2, "", false, 3, 0, false, true, "passes from 2"},
				{"refused", 2, "", false, 3, 0, false, true, "passes from 2"},
				{"reset", 0, "&action=reset", true, 0, 3, false, false, "used nothing"},
				{"blocked", 0, "&action=block&length=10m", false, 3, 0, true, true, "blocked until 2"},
				{"the block lifted", 0, "&action=block&length=0s", true, 0, 3, false, false, "used nothing"},
			} {
				s.take(step.takes, "192.0.2.1")
				status, got := s.send("POST", "policy=p&key=192.0.2.1"+step.form)
				r := got.Report
				if status != 200 || r.Allowed != step.allowed || r.Used != step.used || r.Remaining != step.remaining || r.Capacity != 3 ||
					(r.BlockedUntil != nil) != step.blocked || (r.RetryAt != nil) != step.waits || !strings.Contains(r.Why, step.says) {
					t.Errorf("%s: %d %+v", step.name, status, got)
				}
			}
		})
	}
}

func TestWhenItPasses(t *testing.T) {
	s := newScene(t, debug.Options{Authorize: anybody}, core.PerMinute(60).TokenBucket(1).Named("p"))
	s.take(1, "k")
	_, got := s.send("GET", "policy=p&key=k")
	if wait := time.Until(*got.Report.RetryAt); wait < 0 || wait > 1100*time.Millisecond {
		t.Errorf("it passes in %v, want a second", wait)
	}
	_, got = s.send("POST", "policy=p&key=k&action=block&length=10m")
	if wait := time.Until(*got.Report.BlockedUntil); wait < 9*time.Minute || wait > 10*time.Minute+10*time.Millisecond || got.Done == "" {
		t.Errorf("blocked for %v: %q", wait, got.Done)
	}
}

func TestWhatCannotBeServed(t *testing.T) {
	s := newScene(t, debug.Options{Authorize: func(r *http.Request) bool { return r.Header.Get("X-Operator") == "yes" }}, core.PerHour(3).Named("p"))
	operator := []string{"X-Operator", "yes"}
	for _, c := range []struct {
		name, method, form string
		fields             []string
		status             int
		says               string
	}{
		{"no such policy", "GET", "policy=q&key=k", nil, 404, `no policy "q"`},
		{"no key", "GET", "policy=p", nil, 400, "no key"},
		{"no such way", "GET", "policy=p&key=k&as=x", nil, 400, "give key, ip, secret or peer"},
		{"no address", "GET", "policy=p&key=k&as=ip", nil, 400, "takes an address"},
		{"no such client", "GET", "policy=p&client=00", nil, 400, "none of the most refused"},
		{"no such limit", "GET", "policy=p&key=k&limit=x", nil, 400, "limit"},
		{"a limit that the algorithm has not", "GET", "policy=p&key=k&limit=5/minute%20burst%209", nil, 400, "burst"},
		{"an action by GET", "GET", "policy=p&key=k&action=reset", operator, 405, "needs a POST"},
		{"another method", "PUT", "", operator, 405, "GET or a POST"},
		{"an action of nobody", "POST", "policy=p&key=k&action=reset", nil, 403, "may not act"},
		{"an action from another site", "POST", "policy=p&key=k&action=reset", append(operator, "Sec-Fetch-Site", "cross-site"), 403, "another site"},
		{"an action from another origin", "POST", "policy=p&key=k&action=reset", append(operator, "Origin", "https://evil.example"), 403, "another site"},
		{"no such action", "POST", "policy=p&key=k&action=x", operator, 400, "reset or block"},
		{"no length", "POST", "policy=p&key=k&action=block", operator, 400, "length"},
		{"a length below 0", "POST", "policy=p&key=k&action=block&length=-1s", operator, 400, "length"},
		{"a length of years", "POST", "policy=p&key=k&action=block&length=99999h", operator, 400, "8784h"},
		{"a huge form", "POST", "policy=p&key=" + strings.Repeat("k", 1<<20), nil, 400, "cannot be read"},
		{"a form that is none", "POST", "policy=p&key=%zz", nil, 400, "cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.T = t
			s.take(1, "k")
			status, got := s.send(c.method, c.form, c.fields...)
			if status != c.status || !strings.Contains(got.Error, c.says) || got.Report.Capacity != 0 || got.Done != "" {
				t.Errorf("%d %+v, want %d and %q", status, got, c.status, c.says)
			}
			if _, now := s.send("GET", "policy=p&key=k"); now.Report.Used == 0 {
				t.Error("the client was reset")
			}
		})
	}
	if status, _ := s.send("POST", "policy=p&key=k&action=reset", operator...); status != 200 {
		t.Errorf("an operator's reset answers %d", status)
	}
}

func TestWithoutAuthorizeNobodyActs(t *testing.T) {
	s := newScene(t, debug.Options{}, core.PerHour(3).Named("p"))
	if status, _ := s.send("POST", "policy=p&key=k&action=reset"); status != 403 {
		t.Errorf("a reset answers %d", status)
	}
	if body := s.page(""); strings.Contains(body, ">reset<") || strings.Contains(body, ">block") {
		t.Error("the page offers actions")
	}
}

// TestKeysAreThoseOfThePath: what an operator types finds what the path has counted.
func TestKeysAreThoseOfThePath(t *testing.T) {
	joined, _ := core.Join(constant("ann"), constant("192.0.2.1"))(nil)
	for _, c := range []struct{ key, form string }{
		{"ann", "key=ann"},
		{"2001:db8::/64", "as=ip&key=2001:db8::1"},
		{"192.0.2.1", "as=ip&key=::ffff:192.0.2.1"},
		{"LPJNul-wow4m6Dsqxbning", "as=secret&key=hello"}, // 128 bits of its SHA-256
		{"\x00ip:192.0.2.1", "as=peer&key=192.0.2.1"},
		{joined, "key=ann&key=192.0.2.1"},
	} {
		s := newScene(t, debug.Options{}, core.PerHour(3).Named("p"))
		s.take(2, c.key)
		if _, got := s.send("GET", "policy=p&"+c.form); got.Report.Used != 2 || got.Report.Hash != tally.KeyHash(c.key) {
			t.Errorf("%s finds %+v", c.form, got)
		}
	}
}

func constant(key string) core.Key {
	return func(core.Request) (string, error) { return key, nil }
}

func TestTheMostRefusedAreFoundByTheirHash(t *testing.T) {
	s := newScene(t, debug.Options{}, core.PerHour(1).Named("p"))
	s.take(9, "ann's token")
	s.take(4, "bob's token")
	_, got := s.send("GET", "")
	if len(got.Heaviest) != 2 || got.Heaviest[0].Refused != 8 || got.Heaviest[0].Key != "" {
		t.Fatalf("the most refused are %+v", got.Heaviest)
	}
	if _, got := s.send("GET", "policy=p&client="+got.Heaviest[0].Hash); got.Report.Used != 1 || got.Report.Hash != tally.KeyHash("ann's token") {
		t.Errorf("%+v", got)
	}
	if strings.Contains(s.page(""), "token") {
		t.Error("the page shows a key")
	}
	open := newScene(t, debug.Options{ShowKeys: true}, core.PerHour(1).Named("p"))
	open.take(2, "<b>ann</b>")
	if body := open.page(""); !strings.Contains(body, "&lt;b&gt;ann&lt;/b&gt;") {
		t.Errorf("no key that was asked for in %s", body)
	}
}

// page is the plain page.
func (s scene) page(form string) string {
	s.Helper()
	answer := httptest.NewRecorder()
	s.shown.ServeHTTP(answer, httptest.NewRequest("GET", "/debug?"+form, nil))
	if answer.Header().Get("Content-Type") != "text/html; charset=utf-8" || answer.Header().Get("Cache-Control") != "no-store" ||
		!strings.Contains(answer.Header().Get("Content-Security-Policy"), "default-src 'none'") {
		s.Errorf("fields %v", answer.Header())
	}
	return answer.Body.String()
}

func TestThePage(t *testing.T) {
	s := newScene(t, debug.Options{Authorize: anybody}, core.PerHour(3).Named("login"), core.PerHour(3).Named("trial").AsDryRun())
	s.take(4, "192.0.2.1", "192.0.2.1")
	body := s.page("policy=login&key=192.0.2.1&" + url.Values{"as": {`"><script>alert(1)</script>`}}.Encode())
	if strings.Contains(body, "<script>") {
		t.Error("the page can be written into")
	}
	body = s.page("policy=login&key=192.0.2.1")
	for _, want := range []string{"The client has used up its limit", "3 of 3, 0 remaining", ">reset<", ">block for<", "<td>trial</td>", "report", `value="192.0.2.1"`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
}

func TestPoliciesInForce(t *testing.T) {
	s := newScene(t, debug.Options{}, core.PerHour(3).TokenBucket(9).Named("a"), core.PerHour(3).Holding(time.Second).Named("b"),
		core.PerHour(3).Degrading().LimitBy(func(core.Request) (core.Limit, error) { return core.Limit{}, nil }), core.PerHour(3).Named("d").AsDryRun())
	other := core.NewMemory()
	defer other.Close()
	for range 2 {
		s.shown.Mounted(pipeline.Mount{Store: other, Policies: []core.Policy{core.PerHour(7).Named("a")}})
	}
	_, got := s.send("GET", "")
	want := `[{a 3/hour burst 9 false token_bucket refuse} {b 3/hour false sliding_window_counter hold} {3/hour 3/hour true sliding_window_counter degrade}` +
		` {d 3/hour false sliding_window_counter report} {a #2 7/hour false sliding_window_counter refuse}]`
	if fmt.Sprint(got.Policies) != want {
		t.Errorf("in force: %v\nwant %v", got.Policies, want)
	}
	if _, got := s.send("GET", "policy=a+%232&key=k"); got.Report.Capacity != 7 {
		t.Errorf("the second a is %+v", got)
	}
	if _, got := s.send("GET", "policy=b&key=k&limit=30/hour"); got.Report.Capacity != 30 || got.Report.Limit != "30/hour" {
		t.Errorf("with a limit of its own: %+v", got)
	}
}

// away is a store that does not answer.
type away struct{ core.Store }

var errAway = errors.New("no answer")

func (away) Take(context.Context, time.Time, []core.Ask) error { return errAway }
func (away) Reset(context.Context, *core.Terms, string) error  { return errAway }
func (away) Block(context.Context, time.Time, *core.Terms, string, time.Duration) error {
	return errAway
}

func TestTheStoreIsAway(t *testing.T) {
	shown := debug.New(debug.Options{Authorize: anybody})
	shown.Mounted(pipeline.Mount{Store: away{}, Policies: []core.Policy{core.PerHour(3).Named("p")}})
	s := scene{T: t, shown: shown}
	for _, action := range []string{"look", "reset", "block&length=1m"} {
		if status, got := s.send("POST", "policy=p&key=k&action="+action); status != 503 || got.Done != "" || !strings.Contains(got.Error, "no answer") {
			t.Errorf("%s answers %d %+v", action, status, got)
		}
	}
}

// TestOneTallyForAll: a tally that is given is counted by its own observer alone.
func TestOneTallyForAll(t *testing.T) {
	counts := tally.New(tally.Options{})
	s := newScene(t, debug.Options{Tally: counts}, core.PerHour(1).Named("p"))
	s.take(5, "k")
	s.shown.StoreAnswered(time.Second, nil)
	if n, _, _ := counts.Answered().Read(); n != 0 || len(counts.Heaviest(1)) != 0 {
		t.Error("it was counted twice")
	}
}

func TestMiddlewaresWithoutEnd(t *testing.T) {
	shown := debug.New(debug.Options{})
	for range 3000 {
		shown.Mounted(pipeline.Mount{Store: core.NewMemory(), Policies: []core.Policy{core.PerHour(7).Named("a")}})
	}
	if _, got := (scene{T: t, shown: shown}).send("GET", ""); len(got.Policies) != 1000 {
		t.Errorf("%d are known, want 1000", len(got.Policies))
	}
}

// TestAPolicyWithALease is asked about like any other.
func TestAPolicyWithALease(t *testing.T) {
	s := newScene(t, debug.Options{Authorize: anybody}, core.PerHour(2).FixedWindow().Named("p").Leasing(2))
	s.take(3, "k")
	if status, got := s.send("GET", "policy=p&as=key&key=k"); status != 200 || got.Report.Used != 2 || got.Report.Allowed {
		t.Errorf("%d %+v", status, got)
	}
}
