package adaptertest

import (
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/headers"
)

// What a client is told, field by field.
var fields = []testCase{
	{name: "every dialect", run: dialects},
	{name: "what outer middleware has set survives a refusal", run: outerFields},
	{name: "plain text for who prefers it", run: plainText},
	{name: "HEAD is refused without a body", run: head},
	{name: "204 and 304 get no body", run: bodiless},
}

// fieldNames are those of all dialects.
var fieldNames = []string{
	"RateLimit-Policy", "RateLimit", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset",
	"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset",
}

// dialects compares all fields: those of a dialect are there, and no others.
func dialects(t *testing.T, d Driver) {
	const epoch = "1767225660" // a minute after the clock's time
	for _, c := range []struct {
		name     string
		dialects []headers.Dialect
		want     [8]string // in the order of fieldNames
	}{
		{"default", nil, [8]string{`"p";q=1;w=60`, `"p";r=0;t=60`, "1", "0", "60"}},
		{"draft 11", []headers.Dialect{headers.Draft11}, [8]string{`"p";q=1;w=60`, `"p";r=0;t=60`}},
		{"classic", []headers.Dialect{headers.Classic}, [8]string{2: "1", "0", "60"}},
		{"draft 06", []headers.Dialect{headers.Draft06}, [8]string{"1;w=60", "", "1", "0", "60"}},
		{"draft 07", []headers.Dialect{headers.Draft07}, [8]string{"1;w=60", "limit=1, remaining=0, reset=60"}},
		{"X, seconds", []headers.Dialect{headers.XSeconds}, [8]string{5: "1", "0", "60"}},
		{"X, epoch", []headers.Dialect{headers.XEpoch}, [8]string{5: "1", "0", epoch}},
		{"none", []headers.Dialect{headers.None}, [8]string{}},
		{"two together", []headers.Dialect{headers.Draft07, headers.XEpoch}, [8]string{"1;w=60", "limit=1, remaining=0, reset=60", 5: "1", "0", epoch}},
	} {
		o := fixed()
		o.Dialects = c.dialects
		url := d.Serve(t, app(o, core.PerMinute(1).FixedWindow().Named("p")))
		for _, status := range []int{200, 429} {
			got := get(t, url, status)
			for i, name := range fieldNames {
				if lines := got.header.Values(name); len(lines) > 1 || got.header.Get(name) != c.want[i] {
					t.Errorf("%s, %d: %s is %q, want %q", c.name, status, name, lines, c.want[i])
				}
			}
			if waits := got.header.Get("Retry-After"); (waits == "60") != (status == 429) {
				t.Errorf("%s, %d: Retry-After %q", c.name, status, waits)
			}
		}
	}
}

// outerFields: those of CORS stay, so that a browser shows the refusal to its page;
// those about another body go.
func outerFields(t *testing.T, d Driver) {
	a := app(fixed(), core.PerMinute(1))
	a.Outer = func(c Call) {
		c.SetField("Access-Control-Allow-Origin", "https://example.com")
		c.SetField("Access-Control-Expose-Headers", "RateLimit, Retry-After")
		c.SetField("Vary", "Origin")
		c.SetField("X-Request-Id", "7")
		c.SetField("Etag", `"v1"`)
		c.SetField("Cache-Control", "public, max-age=60")
	}
	url := d.Serve(t, a)
	for _, c := range []struct {
		status int
		fields map[string]string
	}{
		{200, map[string]string{"Etag": `"v1"`, "Cache-Control": "public, max-age=60"}},
		{429, map[string]string{"Etag": "", "Cache-Control": "no-store"}},
	} {
		got := get(t, url, c.status)
		for name, want := range c.fields {
			got.wantField(t, name, want)
		}
		got.wantField(t, "Access-Control-Allow-Origin", "https://example.com")
		got.wantField(t, "Access-Control-Expose-Headers", "RateLimit, Retry-After")
		got.wantField(t, "Vary", "Origin")
		got.wantField(t, "X-Request-Id", "7")
	}
}

func plainText(t *testing.T, d Driver) {
	url := d.Serve(t, app(fixed(), core.PerMinute(1)))
	get(t, url, 200)
	refused := send(t, "GET", url, "Accept", "text/html,*/*;q=0.8")
	wantStatus(t, refused, 429)
	refused.wantField(t, "Content-Type", "text/plain; charset=utf-8")
}

func head(t *testing.T, d Driver) {
	url := d.Serve(t, App{Options: fixed(), Routes: []Route{{"HEAD", "/", []Policies{{core.PerMinute(1).FixedWindow()}}, ok}}})
	wantStatus(t, raw(t, url, "HEAD", "/", "", "Host: h"), 200)
	got := raw(t, url, "HEAD", "/", "", "Host: h")
	wantStatus(t, got, 429)
	got.wantField(t, "Retry-After", "60")
	if got.body != "" {
		t.Errorf("body %q", got.body)
	}
}

// bodiless: an answer that may have no body gets none from the middleware, from a
// handler or a hook.
func bodiless(t *testing.T, d Driver) {
	for _, status := range []int{204, 304} {
		for _, outcomes := range watching {
			o := fixed()
			o.OnRefused = func(c Call, _ core.Result) { c.Answer(status, "") }
			a := app(o, core.PerMinute(2).Named("p"), core.PerMinute(1).Named("q").Counting(outcomes))
			a.Routes[0].Handler = func(c Call) { c.Answer(status, "") }
			url := d.Serve(t, a)
			for range 4 {
				if got := raw(t, url, "GET", "/", "", "Host: h"); got.status != status || got.body != "" {
					t.Errorf("status %d, body %q, want %d and nothing", got.status, got.body, status)
				}
			}
		}
	}
}
