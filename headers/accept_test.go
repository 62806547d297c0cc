package headers

import (
	"strings"
	"testing"
)

func TestWhoPrefersText(t *testing.T) {
	for _, c := range []struct {
		accept string // lines divided by |
		want   bool
	}{
		{"", false},
		{"*/*", false},
		{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true},
		{"text/plain", true},
		{"text/html", true},
		{"TEXT/HTML", true},
		{"text/*", true},
		{"text/css", false},
		{"application/json", false},
		{"application/json, text/plain, */*", false},
		{"text/plain, application/json", false},
		{"text/plain, application/json;q=0.9", true},
		{"text/plain;q=0.9, application/json", false},
		{"text/plain, application/problem+json;q=0.9", true},
		{"text/plain, application/problem+json;q=0.9, application/json", false},
		{"text/plain, application/vnd.api+json", false},
		{"text/plain, application/*", false},
		{"text/plain, application/*;q=0.5", true},
		{"text/plain;q=0.5, */*", false},
		{"text/plain;q=0.5, */*;q=0.1", true},
		{"text/plain, */*;q=0", true},
		{"application/json;q=0, */*", true},
		{"text/plain;q=0, text/*, application/json;q=0.1", false},
		{"text/html|application/json", false},
		{"text/html|application/json;q=0.5", true},
		{"text/html ; level=1 ; Q=0.5 , application/json ; q=0.4", true},
		{"text/html;q=0.501, application/json;q=0.5", true},
		{"text/html;q=1.0, application/json;q=1.000", false},
		{"text/html;q=2, application/json;q=0.001", false},
		{"text/html;q=0.5555, application/json;q=0.001", false},
		{"text/html;q=-1, application/json;q=0.001", false},
		{"text/html;q=, application/json;q=0.001", false},
		{"text/html;q=0,5, application/json;q=0.001", false},
		{"text/html;q=.5, application/json;q=0.001", false},
		{"text/html;q", false},
		{",,;,text/html", true},
		{"json", false},
		{"/json, text/html;q=0.5", false},
	} {
		var accept []string
		if c.accept != "" {
			accept = strings.Split(c.accept, "|")
		}
		if n := testing.AllocsPerRun(10, func() { prefersText(accept) }); n > 0 {
			t.Errorf("%q: %v allocations", c.accept, n)
		}
		if got := prefersText(accept); got != c.want {
			t.Errorf("%q: text %v, want %v", c.accept, got, c.want)
		}
	}
}

func FuzzAccept(f *testing.F) {
	for _, seed := range []string{"", "*/*", "text/html;q=0.5, */*;q=0.1", "text/*;q=1.000,application/*", "application/x+json;q=0,", ";;,q=1", "text/plain;Q=0.9;q=0"} {
		f.Add(seed)
	}
	f.Add(strings.Repeat("text/html;q=0.5,", 1<<12))
	f.Add(strings.Repeat(";", 1<<16))
	f.Fuzz(func(t *testing.T, line string) {
		text := prefersText([]string{line})
		if text && prefersText([]string{line, "application/json"}) {
			t.Errorf("%q: JSON at full quality does not win", line)
		}
		if prefersText([]string{line, ""}) != text || prefersText([]string{" ,", line}) != text {
			t.Errorf("%q: empty elements matter", line)
		}
		if q := quality(line); q < 0 || q > 1000 {
			t.Errorf("%q: quality %d", line, q)
		}
	})
}
