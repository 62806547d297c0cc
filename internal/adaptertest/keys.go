package adaptertest

import (
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

var keys = []testCase{
	{name: "the peer counts, never a header", run: peer},
	{name: "a missing key is counted by peer, refused or skipped", run: missingKey},
	{name: "no key can pose as the peer's", run: posing},
	{name: "a key or limit that fails charges nothing", run: failingKey},
	{name: "costs", run: costs},
	{name: "a limit for each tenant", run: tenants},
	{name: "users", run: users},
	{name: "a key of another framework", run: foreignKey},
	{name: "form keys leave the body to the handler", run: formKeys},
	{name: "a key of the framework's own form", run: ownForm},
	{name: "a hostile form", run: hostileForm},
}

func peer(t *testing.T, d Driver) {
	url := d.Serve(t, app(fixed(), core.PerMinute(2)))
	for i, want := range []int{200, 200, 429, 429} {
		got := send(t, "GET", url, "X-Forwarded-For", "10.0.0."+strconv.Itoa(i), "X-Real-IP", "10.0.1."+strconv.Itoa(i), "Forwarded", "for=10.0.2."+strconv.Itoa(i))
		wantStatus(t, got, want)
	}
}

func missingKey(t *testing.T, d Driver) {
	apiKey := core.PerMinute(1).By(keyfuncs.Header("X-API-Key"))
	for _, c := range []struct {
		outcome core.NoKey
		want    []int
	}{
		{core.CountByPeer, []int{200, 429}},
		{core.RefuseNoKey, []int{400, 400}},
		{core.SkipNoKey, []int{200, 200}},
	} {
		url := d.Serve(t, app(fixed(), apiKey.WithoutKey(c.outcome)))
		get(t, url, c.want...)
		wantStatus(t, send(t, "GET", url, "X-API-Key", "a"), 200) // a budget of its own
		wantStatus(t, send(t, "GET", url, "X-API-Key", "a"), 429)
	}
}

func posing(t *testing.T, d Driver) {
	byQuery := core.PerMinute(1).By(keyfuncs.Query("k"))
	url := d.Serve(t, app(fixed(), byQuery))
	get(t, url, 200, 429)
	for _, key := range []string{"127.0.0.1", "ip:127.0.0.1", "%00ip:127.0.0.1", "%00%00ip:127.0.0.1"} {
		get(t, url+"/?k="+key, 200, 429)
	}
}

func failingKey(t *testing.T, d Driver) {
	broken := errors.New("secret cause")
	fails := func(r core.Request) error {
		if r.Query("fail") != "" {
			return broken
		}
		return nil
	}
	for _, c := range []struct {
		policy core.Policy
		kind   error
	}{
		{core.PerMinute(1).Named("broken").By(func(r core.Request) (string, error) { return "k", fails(r) }), pipeline.ErrKey},
		{core.PerMinute(1).Named("broken").LimitBy(func(r core.Request) (core.Limit, error) {
			return core.PerMinute(1).Limit, fails(r)
		}), pipeline.ErrLimit},
		{core.PerMinute(1).Named("broken").LimitBy(func(r core.Request) (core.Limit, error) {
			if r.Query("fail") != "" {
				return core.Limit{}, nil // no plan was found: not a free pass
			}
			return core.PerMinute(1).Limit, nil
		}), pipeline.ErrLimit},
	} {
		var kind atomic.Value
		o := fixed()
		o.OnError = func(_ Call, err error) { kind.Store(err) }
		url := d.Serve(t, app(o, core.PerMinute(2).Named("sound"), c.policy))
		failed := get(t, url+"/?fail=1", 500)
		if strings.Contains(failed.body, "secret") {
			t.Errorf("the client sees %s", failed.body)
		}
		err, _ := kind.Load().(*pipeline.Error)
		if !errors.Is(err, c.kind) || err.Policy != "broken" {
			t.Errorf("OnError got %v, want %v", err, c.kind)
		}
		get(t, url, 200).wantField(t, "RateLimit", `"sound";r=1;t=120, "broken";r=0;t=120`)
	}
}

func costs(t *testing.T, d Driver) {
	byQuery := core.PerMinute(10).Costing(func(r core.Request) (int64, error) {
		return strconv.ParseInt(r.Query("n"), 10, 64)
	})
	url := d.Serve(t, app(fixed(), byQuery))
	for _, c := range []struct {
		n         string
		want      int
		remaining string
	}{
		{"3", 200, "7"},
		{"0", 200, "7"}, // a peek
		{"-1", 400, ""},
		{"-9223372036854775808", 400, ""},
		{"many", 400, ""},
		{"", 400, ""},
		{"9223372036854775807", 429, "7"},
		{"11", 429, "7"},
		{"8", 429, "7"},
		{"7", 200, "0"},
		{"0", 200, "0"},
	} {
		got := get(t, url+"/?n="+c.n, c.want)
		got.wantField(t, "RateLimit-Remaining", c.remaining)
	}
}

func tenants(t *testing.T, d Driver) {
	plans := map[string]core.Limit{
		"free": core.PerMinute(1).Limit, "paid": core.PerMinute(2).Limit,
		"ours": core.Unlimited(), "gone": core.Blocked(), "none": {Count: -1, Period: 1},
	}
	byPlan := core.PerMinute(9).By(keyfuncs.Query("plan")).LimitBy(func(r core.Request) (core.Limit, error) {
		return plans[r.Query("plan")], nil
	})
	url := d.Serve(t, app(fixed(), byPlan))
	get(t, url+"/?plan=free", 200, 429)
	get(t, url+"/?plan=paid", 200, 200, 429).wantField(t, "RateLimit-Limit", "2")
	get(t, url+"/?plan=ours", 200, 200, 200).wantField(t, "RateLimit", "")
	get(t, url+"/?plan=gone", 429, 429).wantField(t, "Retry-After", "")
	get(t, url+"/?plan=none", 500)
}

func users(t *testing.T, d Driver) {
	byUser := core.PerMinute(1).By(d.User(func(c Call) (string, bool) {
		name := c.Header("X-User")
		return name, name != ""
	}))
	url := d.Serve(t, app(fixed(), byUser))
	for _, user := range []string{"ann", "bob"} {
		wantStatus(t, send(t, "GET", url, "X-User", user), 200)
		wantStatus(t, send(t, "GET", url, "X-User", user), 429)
	}
	get(t, url, 200, 429) // nobody: by peer
}

// stranger is the context of a framework that does not exist.
type stranger struct{}

func foreignKey(t *testing.T, d Driver) {
	key := pipeline.KeyOf(func(*stranger) (string, error) { return "k", nil })
	var text atomic.Value
	o := fixed()
	o.OnError = func(_ Call, err error) { text.Store(err.Error()) }
	get(t, d.Serve(t, app(o, core.PerMinute(1).By(key))), 500)
	if got, _ := text.Load().(string); !strings.Contains(got, "*adaptertest.stranger") || !strings.Contains(got, "in a request of") {
		t.Errorf("the error %q does not name both frameworks", got)
	}
}

const boundary = "multipart/form-data; boundary=b"

func multipartForm(user string) string {
	return "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\nuser=x\r\n" +
		"--b\r\nContent-Disposition: form-data; name=\"user\"\r\n\r\n" + user + "\r\n--b--\r\n"
}

func formKeys(t *testing.T, d Driver) {
	byUser := core.PerMinute(1).By(keyfuncs.Form("user"))
	echo := func(c Call) { c.Answer(200, c.Form("user")) }
	url := d.Serve(t, App{Options: fixed(), Routes: []Route{{"POST", "/", []Policies{{byUser}}, echo}}})
	for _, c := range []struct{ kind, body, user string }{
		{"application/x-www-form-urlencoded", "user=ann&password=x", "ann"},
		{"application/x-www-form-urlencoded", "password=x&user=bob&user=eve", "bob"},
		{boundary, multipartForm("cid"), "cid"},
	} {
		got := sendBody(t, "POST", url, c.body, "Content-Type", c.kind)
		if wantStatus(t, got, 200); got.body != c.user {
			t.Errorf("the handler reads user %q, want %q", got.body, c.user)
		}
		wantStatus(t, sendBody(t, "POST", url, c.body, "Content-Type", c.kind), 429)
	}
}

func ownForm(t *testing.T, d Driver) {
	byUser := core.PerMinute(1).By(d.Key(func(c Call) (string, error) { return c.Form("user"), nil }))
	echo := func(c Call) { c.Answer(200, c.Form("user")) }
	url := d.Serve(t, App{Options: fixed(), Routes: []Route{{"POST", "/", []Policies{{byUser}}, echo}}})
	for _, user := range []string{"ann", "bob"} {
		post := func() answer {
			return sendBody(t, "POST", url, "user="+user, "Content-Type", "application/x-www-form-urlencoded")
		}
		if got := post(); got.status != 200 || got.body != user {
			t.Errorf("status %d, body %q", got.status, got.body)
		}
		wantStatus(t, post(), 429)
	}
}

// hostileForm sends bodies that are no forms: all are "nothing found", by peer.
func hostileForm(t *testing.T, d Driver) {
	byUser := core.PerMinute(100).By(keyfuncs.Form("user")).WithoutKey(core.RefuseNoKey)
	url := d.Serve(t, App{Options: fixed(), Routes: []Route{{"POST", "/", []Policies{{byUser}}, ok}}})
	long := strings.Repeat("x", 3<<20)
	for _, c := range []struct{ kind, body string }{
		{"", "user=ann"},
		{"application/json", `{"user":"ann"}`},
		{"multipart/form-data", "user=ann"},
		{"multipart/form-data; boundary=", "user=ann"},
		{boundary, "--b\r\nContent-Disposition: form-data; name=\"user\"\r\n\r\n" + long},
		{"application/x-www-form-urlencoded", "user=" + long},
		{";;;", "user=ann"},
	} {
		if got := sendBody(t, "POST", url, c.body, "Content-Type", c.kind); got.status != 400 {
			t.Errorf("%.30s %.30s: status %d, want 400", c.kind, c.body, got.status)
		}
	}
}
