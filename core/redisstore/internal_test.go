package redisstore

import (
	"errors"
	"strings"
	"testing"
	"time"

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
		store *Store
		want  string
	}{
		{&Store{prefix: "shop"}, "shop:2:{ip:10.0.0.1}:login:c60000000"},
		{&Store{prefix: "shop", tag: "all"}, "shop:2:{all}{ip:10.0.0.1}:login:c60000000"},
	} {
		if got := test.store.key(terms, "ip:10.0.0.1"); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

// A reply that the script does not give is an error, and changes no ask.
func TestRepliesThatCannotBeRead(t *testing.T) {
	good := []int64{1, 2, 3, 4, 5, 6}
	for name, answers := range map[string]reply{
		"nothing":                    nil,
		"no numbers":                 {},
		"text":                       []byte("what something between here and the server says in its own words"),
		"too few":                    appendNumbers(nil, good[:5]...),
		"half a number":              appendNumbers(nil, good...)[:47],
		"negative":                   appendNumbers(nil, 1, 2, 3, 4, 5, -6),
		"above all":                  appendNumbers(nil, 1, 2, 3, 4, 5, 1<<60),
		"an outcome that is none":    appendNumbers(nil, 6, 2, 3, 4, 5, 6),
		"an error without a length":  appendNumbers(nil, 4),
		"an error of negative bytes": appendNumbers(nil, 4, -1),
		"an error longer than all":   append(appendNumbers(nil, 4, 3), "ab"...),
		"an error of any length":     append(appendNumbers(nil, 4, 1<<53), "a"...),
	} {
		asks := make([]core.Ask, 1)
		if _, err := readAnswers(answers, asks); !errors.Is(err, errReply) || asks[0] != (core.Ask{}) {
			t.Errorf("%s: %v, %+v", name, err, asks[0])
		}
		if err := done(answers, 1); !errors.Is(err, errReply) {
			t.Errorf("%s is taken for done", name)
		}
	}
}

func TestRepliesToSeveralDecisions(t *testing.T) {
	answers := append(appendNumbers(nil, 1, 2, 30, 4, 5, 6, 4, 3), "OOM"...)
	answers = appendNumbers(answers, 0, 0, 7, 8, 0, 0, 3, 9, 0, 1, 0, 0)
	first, second, third := []core.Ask{{Cost: 7}}, []core.Ask{{}}, make([]core.Ask, 2)
	rest, err := readAnswers(answers, first)
	want := core.Answer{Allowed: true, Remaining: 2, Delay: 30 * time.Microsecond, ResetAfter: 4 * time.Microsecond, Charged: 7, ChargedAt: 5, Turn: 6}
	if err != nil || first[0].Answer != want {
		t.Errorf("charged: %v, %+v", err, first[0])
	}
	if rest, err = readAnswers(rest, second); err == nil || err.Error() != "ratelimit: redis: OOM" || second[0] != (core.Ask{}) {
		t.Errorf("failed: %v, %+v", err, second[0])
	}
	rest, err = readAnswers(rest, third)
	if err != nil || len(rest) > 0 {
		t.Errorf("%v, %v", err, rest)
	}
	if want = (core.Answer{RetryAfter: 7 * time.Microsecond, ResetAfter: 8 * time.Microsecond}); third[0].Answer != want {
		t.Errorf("refused: %+v", third[0])
	}
	if want = (core.Answer{Allowed: true, Remaining: 9, ResetAfter: time.Microsecond}); third[1].Answer != want {
		t.Errorf("allowed: %+v", third[1])
	}
	if err := done(appendNumbers(nil, 1, 1), 2); err != nil {
		t.Error(err)
	}
}

// The slots are those of the cluster specification.
func TestSlots(t *testing.T) {
	for tag, want := range map[string]uint16{"123456789": 12739, "foo": 12182, "": 0} {
		if got := slotOf(tag); got != want {
			t.Errorf("%q is in slot %d, want %d", tag, got, want)
		}
	}
	store := Store{prefix: "shop"}
	terms, _ := core.PerMinute(5).Terms(core.PerMinute(5).Limit)
	if got := tagOf(store.key(terms, "ip:10.0.0.1")); got != "ip:10.0.0.1" {
		t.Errorf("the tag is %q", got)
	}
}
