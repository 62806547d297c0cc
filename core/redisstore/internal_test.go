package redisstore

import (
	"strings"
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
)

func TestSafeKeys(t *testing.T) {
	for _, test := range []struct {
		name, key string
		plain     bool
	}{
		{"an address", "ip:2001:db8::/64", true},
		{"one byte", "a", true},
		{"as long as is plain", strings.Repeat("a", 64), true},
		{"longer", strings.Repeat("a", 65), false},
		{"empty", "", false},
		{"a space", "a b", false},
		{"an opening brace", "a{b", false},
		{"a closing brace", "a}b", false},
		{"what looks like a hash", "#a", false},
		{"binary", "\x00\xff", false},
		{"beyond ASCII", "é", false},
		{"a megabyte", strings.Repeat("k", 1<<20), false},
	} {
		got := safe(test.key)
		if plain := got == test.key; plain != test.plain {
			t.Errorf("%s: %.30q became %.60q", test.name, test.key, got)
		}
		if !test.plain && (len(got) != 44 || got[0] != '#') {
			t.Errorf("%s: %.60q is no hash", test.name, got)
		}
	}
}

func FuzzKeysAreSafeAndDistinct(f *testing.F) {
	f.Add("a", "b")
	f.Add("", "#")
	f.Add("}{", "{}")
	f.Add("a}{b", "a")
	f.Fuzz(func(t *testing.T, a, b string) {
		if !plain(safe(a)) || len(safe(a)) > longestPlain {
			t.Fatalf("%q is not safe: %q", a, safe(a))
		}
		if (a == b) != (safe(a) == safe(b)) {
			t.Fatalf("%q and %q are both %q", a, b, safe(a))
		}
	})
}

func TestNamesOfKeys(t *testing.T) {
	terms, err := core.PerMinute(5).Named("login").Terms(core.PerMinute(5).Limit)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		store Store
		want  string
	}{
		{Store{prefix: "shop"}, "shop:1:{ip:10.0.0.1}:login:c60000000"},
		{Store{prefix: "shop", tag: "all"}, "shop:1:{all}{ip:10.0.0.1}:login:c60000000"},
	} {
		if got := test.store.key(terms, "ip:10.0.0.1"); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

// A reply that the script does not give is an error, and changes no ask.
func TestRepliesThatCannotBeRead(t *testing.T) {
	good := []any{int64(1), int64(2), int64(3), int64(4), int64(5), int64(6), int64(7), int64(8)}
	for name, reply := range map[string]any{
		"nothing":      nil,
		"a text":       "OK",
		"a number":     int64(1),
		"no words":     []any{},
		"too few":      good[:7],
		"too many":     append(good[:8:8], int64(9)),
		"a text in it": append(good[:7:7], "8"),
		"a nil in it":  append(good[:7:7], nil),
		"negative":     append(good[:7:7], int64(-1)),
		"a list in it": append(good[:7:7], []any{int64(8)}),
	} {
		asks := make([]core.Ask, 1)
		if err := answers(reply, asks); err == nil || asks[0] != (core.Ask{}) {
			t.Errorf("%s: %v, %+v", name, err, asks[0])
		}
		if err := done(reply); err == nil {
			t.Errorf("%s is taken for done", name)
		}
	}
	asks := make([]core.Ask, 1)
	if err := answers(good, asks); err != nil || !asks[0].Allowed || asks[0].Turn != 8 {
		t.Errorf("the script's own: %v, %+v", err, asks[0])
	}
}
