// Package examples_test runs the example apps as processes and holds them to one
// table of behaviour.
package examples_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

// frameworks are the folders of the apps.
var frameworks = []string{"nethttp", "gin", "echo", "fiber", "chi"}

// table is what every app does, whatever its framework and its store. All cases
// run on one process, in this order; together they stay below 300 requests until
// the last, which is about those.
var table = []struct {
	name string
	run  func(*app)
}{
	{"window", window},
	{"exact", exact},
	{"smooth", smooth},
	{"burst", burst},
	{"steady", steady},
	{"users", users},
	{"login", login},
	{"pay", pay},
	{"report", report},
	{"healthz", healthz},
	{"ip", ip},
}

func TestApps(t *testing.T) {
	redis := redistest.Start(t)
	for _, framework := range frameworks {
		t.Run(framework, func(t *testing.T) {
			binary := build(t, framework)
			t.Run("in memory", func(t *testing.T) { runTable(t, start(t, binary)) })
			url := "redis://" + redis.Addr()
			empty(t, redis)
			t.Run("on Redis", func(t *testing.T) { runTable(t, start(t, binary, "-redis", url)) })
			empty(t, redis)
			t.Run("two on one Redis", func(t *testing.T) { shared(start(t, binary, "-redis", url), start(t, binary, "-redis", url)) })
			t.Run("Redis absent at start", func(t *testing.T) { exact(start(t, binary, "-redis", absentRedis)) })
			t.Run("drains", func(t *testing.T) { drains(start(t, binary)) })
		})
	}
}

func empty(t *testing.T, redis *redistest.Server) {
	t.Helper()
	if err := redis.Client().FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
}

func runTable(t *testing.T, a *app) {
	for _, c := range table {
		t.Run(c.name, func(t *testing.T) { c.run(&app{T: t, url: a.url, process: a.process}) })
	}
}

// window needs a minute of the clock that does not end meanwhile.
func window(a *app) {
	if left := time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)); left < 5*time.Second {
		time.Sleep(left)
	}
	for range 10 {
		a.want(a.get("/window"), 200, "window")
	}
	a.refused(a.get("/window"), "window")
	a.Log("10 admitted, then refused")
}

func exact(a *app) {
	for range 5 {
		a.want(a.get("/exact"), 200, "exact")
	}
	refused := a.get("/exact")
	a.refused(refused, "exact")
	a.Logf("5 admitted, then a wait of %s s", refused.header.Get("Retry-After"))
}

func smooth(a *app) {
	for range 10 {
		a.want(a.get("/smooth"), 200, "smooth")
	}
	refused := a.get("/smooth")
	a.refused(refused, "smooth")
	a.Logf("10 admitted, then a wait of %s s", refused.header.Get("Retry-After"))
}

// burst sends 40 at once by one key: 20 pass, and what was refilled meanwhile.
func burst(a *app) {
	begin := time.Now()
	admitted := 0
	for _, got := range together(40, func(int) reply { return a.get("/burst", "X-API-Key", "k1") }) {
		if got.status == http.StatusOK {
			admitted++
			continue
		}
		a.refused(got, "burst")
	}
	most := 20 + int(time.Since(begin)/(100*time.Millisecond)) + 1
	if admitted < 20 || admitted > most {
		a.Errorf("%d admitted, want 20 to %d", admitted, most)
	}
	a.want(a.get("/burst", "X-API-Key", "k2"), 200, "burst")
	a.want(a.get("/burst"), 200, "burst") // without a key: by IP
	a.Logf("%d of 40 admitted in %v", admitted, time.Since(begin).Round(time.Millisecond))
}

// steady sends 8 at once: none leaves before its turn, 100 ms after the one before.
func steady(a *app) {
	begin := time.Now()
	all := together(8, func(int) reply { return a.get("/steady") })
	slices.SortFunc(all, func(a, b reply) int { return a.at.Compare(b.at) })
	var left []string
	for i, got := range all {
		a.want(got, 200, "steady")
		after := got.at.Sub(begin)
		left = append(left, after.Round(time.Millisecond).String())
		if turn := time.Duration(i) * 100 * time.Millisecond; after < turn-time.Millisecond || after > turn+2*time.Second {
			a.Errorf("answer %d left after %v, want %v", i+1, after, turn)
		}
	}
	a.Logf("answers left after %s", strings.Join(left, ", "))
}

func together(n int, send func(int) reply) []reply {
	all := make([]reply, n)
	var wait sync.WaitGroup
	for i := range all {
		wait.Add(1)
		go func() {
			defer wait.Done()
			all[i] = send(i)
		}()
	}
	wait.Wait()
	return all
}

func users(a *app) {
	for id := range 20 {
		a.want(a.get("/users/"+strconv.Itoa(id)), 200, "users")
	}
	a.refused(a.get("/users/20"), "users")
	a.Log("20 ids admitted, the 21st refused")
}

// login counts only what fails: 5 by user, 20 by IP.
func login(a *app) {
	for range 10 {
		a.want(a.login("ann", "secret"), 200, "login")
	}
	for range 5 {
		a.want(a.login("ann", "guess"), 401, "login")
	}
	a.refused(a.login("ann", "guess"), "login")
	a.refused(a.login("ann", "secret"), "login")
	for i := range 15 {
		a.want(a.login("user"+strconv.Itoa(i), "guess"), 401, "login")
	}
	a.refused(a.login("bob", "guess"), "login-ip")
	a.Log("10 successes uncounted; 5 failures of a user, 20 of an IP, then refused")
}

// pay is refused by pay-ip at 50, and then charges the others nothing.
func pay(a *app) {
	for range 50 {
		a.want(a.get("/pay", "X-User", "ann"), 200, "pay")
	}
	before := untouched(a, "ann")
	if after := untouched(a, "ann"); after < before {
		a.Errorf("a refused payment was charged: %d left of %d", after, before)
	}
	if left := untouched(a, "bob"); left != 100 {
		a.Errorf("another user has %d left, want 100: refused is not charged", left)
	}
	a.Logf("50 admitted; refused ones leave pay-user at %d", before)
}

// untouched is what a refused payment leaves of pay-user. A refusal that the store
// remembers, for up to a second, tells of pay-ip alone.
func untouched(a *app, user string) int64 {
	a.Helper()
	for range 15 {
		refused := a.get("/pay", "X-User", user)
		a.refused(refused, "pay-ip")
		if _, item, told := strings.Cut(refused.header.Get("RateLimit"), `"pay-user";r=`); told {
			digits, _, _ := strings.Cut(item, ";")
			n, err := strconv.ParseInt(digits, 10, 64)
			if err != nil {
				a.Fatalf("RateLimit %q: %v", refused.header.Get("RateLimit"), err)
			}
			return n
		}
		time.Sleep(200 * time.Millisecond)
	}
	a.Fatal("no refusal tells of pay-user")
	return 0
}

func report(a *app) {
	a.want(a.get("/report?size=60"), 200, "report")
	a.refused(a.get("/report?size=60"), "report")
	for _, size := range []string{"0", "-5", "many", "99999999999999999999"} {
		a.want(a.get("/report?size="+size), 400, "report")
	}
	never := a.get("/report?size=101")
	a.want(never, 429, "report")
	if wait := never.header.Get("Retry-After"); wait != "" {
		a.Errorf("a cost that never fits has Retry-After %s", wait)
	}
	a.want(a.get("/report?size=39"), 200, "report")
	a.want(a.get("/report"), 200, "report")
	a.refused(a.get("/report"), "report")
	a.Log("60 + 39 + 1 units admitted, a cost of 101 never")
}

func healthz(a *app) {
	for range 400 {
		got := a.get("/healthz")
		a.want(got, 200, "healthz")
		if field := got.header.Get("RateLimit"); field != "" {
			a.Fatalf("RateLimit %s", field)
		}
	}
	a.Log("400 of 400 admitted")
}

// ip goes to a page that is not there until the 300 of a minute are used.
func ip(a *app) {
	for n := 1; n <= 301; n++ {
		got := a.get("/nowhere")
		if got.status == http.StatusTooManyRequests {
			a.refused(got, "ip")
			a.Logf("refused after %d more", n-1)
			return
		}
		a.want(got, 404, "nowhere")
	}
	a.Error("301 requests admitted")
}

// shared are two instances with one budget.
func shared(a, b *app) {
	admitted := 0
	for i := range 16 {
		if got := []*app{a, b}[i%2].get("/exact"); got.status == http.StatusOK {
			admitted++
		}
	}
	if admitted != 5 {
		a.Errorf("%d admitted by two instances, want 5", admitted)
	}
	a.Logf("%d of 16 admitted by two instances", admitted)
}

// drains is told to end while two of four requests wait for their turns.
func drains(a *app) {
	answers := make(chan reply, 4)
	for range 4 {
		go func() { answers <- a.get("/steady") }()
	}
	a.want(<-answers, 200, "steady")
	a.want(<-answers, 200, "steady") // its turn was 100 ms after the first's: all have come
	a.terminate()
	a.want(<-answers, 200, "steady")
	a.want(<-answers, 200, "steady")
	a.Log("SIGTERM: the requests in the queue were answered, exit status 0")
}
