package adaptertest

import (
	"errors"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

var hooks = []testCase{
	{name: "a hook answers", run: hookAnswers},
	{name: "a hook that writes nothing", run: hookWritesNothing},
}

func hookAnswers(t *testing.T, d Driver) {
	o := fixed()
	o.OnRefused = func(c Call, r core.Result) {
		c.Answer(418, "wait "+strconv.FormatInt(r.RetryAfterSeconds(), 10))
	}
	o.OnError = func(c Call, err error) {
		var e *pipeline.Error
		if !errors.As(err, &e) {
			t.Errorf("%T is no *pipeline.Error", err)
			return
		}
		c.Answer(e.Status+50, "sorry")
	}
	key := d.Key(func(c Call) (string, error) {
		if c.Query("fail") != "" {
			return "", errors.New("secret cause")
		}
		return "k", nil
	})
	url := d.Serve(t, app(o, core.PerMinute(1).FixedWindow().By(key)))
	get(t, url, 200)
	refused := get(t, url, 418)
	refused.wantField(t, "Retry-After", "60")
	if refused.body != "wait 60" || refused.header.Get("Content-Type") == "application/problem+json" {
		t.Errorf("the hook's answer has body %q, type %q", refused.body, refused.header.Get("Content-Type"))
	}
	if failed := get(t, url+"/?fail=1", 550); failed.body != "sorry" {
		t.Errorf("body %q", failed.body)
	}
}

func hookWritesNothing(t *testing.T, d Driver) {
	var calls atomic.Int64
	o := fixed()
	o.OnRefused = func(Call, core.Result) { calls.Add(1) }
	o.OnError = func(Call, error) { calls.Add(1) }
	o.Deny = []string{"10.0.0.0/8"}
	o.ClientIP = keyfuncs.NewClient(keyfuncs.TrustProxies("127.0.0.1"))
	url := d.Serve(t, app(o, core.PerMinute(1)))
	get(t, url, 200, 429).wantField(t, "Content-Type", "application/problem+json")
	wantStatus(t, send(t, "GET", url, "X-Forwarded-For", "10.0.0.1"), 403)
	if n := calls.Load(); n != 2 {
		t.Errorf("%d calls of hooks, want 2", n)
	}
}
