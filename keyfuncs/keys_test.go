package keyfuncs_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

type userKey struct{}

func userOf(ctx context.Context) (string, bool) {
	user, ok := ctx.Value(userKey{}).(string)
	return user, ok
}

// none is what a key gives that finds nothing.
const none = "(none)"

func keyOf(t *testing.T, key core.Key, r core.Request) string {
	t.Helper()
	text, err := key(r)
	switch {
	case errors.Is(err, core.ErrNoKey) && text == "":
		return none
	case err != nil || text == "":
		t.Fatalf("key %q, error %v: want a key or core.ErrNoKey", text, err)
	}
	return text
}

func TestReadableKeys(t *testing.T) {
	anna := request{ctx: context.WithValue(context.Background(), userKey{}, "anna")}
	nobody := request{ctx: context.WithValue(context.Background(), userKey{}, "")}
	for _, c := range []struct {
		name string
		key  core.Key
		r    core.Request
		want string
	}{
		{"all", keyfuncs.All(), request{}, "all"},
		{"user", keyfuncs.User(userOf), anna, "anna"},
		{"user, not authenticated", keyfuncs.User(userOf), request{}, none},
		{"user without a name", keyfuncs.User(userOf), nobody, none},
		{"query", keyfuncs.Query("tenant"), request{query: map[string]string{"tenant": "a\x00b"}}, "a\x00b"},
		{"query, missing", keyfuncs.Query("tenant"), request{}, none},
		{"form", keyfuncs.Form("user"), request{form: map[string]string{"user": "anna"}}, "anna"},
		{"form, missing", keyfuncs.Form("user"), request{}, none},
		{"host", keyfuncs.Host(), request{host: "API.Example.com.:8443"}, "api.example.com"},
		{"host, IPv6", keyfuncs.Host(), request{host: "[2001:DB8::1]:8443"}, "[2001:db8::1]"},
		{"host, IPv6 without a port", keyfuncs.Host(), request{host: "[2001:db8::1]"}, "[2001:db8::1]"},
		{"host, missing", keyfuncs.Host(), request{}, none},
		{"method", keyfuncs.Method(), request{method: "PATCH"}, "PATCH"},
		{"method, invented", keyfuncs.Method(), request{method: "BREW"}, "other"},
		{"method, lower case is another", keyfuncs.Method(), request{method: "get"}, "other"},
		{"route", keyfuncs.Route(), request{route: "GET /users/:id"}, "GET /users/:id"},
		{"route, unmatched", keyfuncs.Route(), request{}, "unmatched"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := keyOf(t, c.key, c.r); got != c.want {
				t.Errorf("key %q, want %q", got, c.want)
			}
		})
	}
}

func TestOtherErrorsPassThrough(t *testing.T) {
	blind := errors.New("the router cannot be seen")
	r := request{routeErr: blind}
	for name, key := range map[string]core.Key{
		"Route":      keyfuncs.Route(),
		"First":      keyfuncs.First(keyfuncs.Query("q"), keyfuncs.Route(), keyfuncs.All()),
		"a join":     core.Join(keyfuncs.All(), keyfuncs.Route()),
		"a nil join": core.Join(keyfuncs.First(keyfuncs.Route())),
	} {
		if got, err := key(r); !errors.Is(err, blind) || got != "" {
			t.Errorf("%s: %q, %v; want the router's error", name, got, err)
		}
	}
}

func TestFirstTakesTheFirstThatIsFound(t *testing.T) {
	key := keyfuncs.First(keyfuncs.Query("a"), keyfuncs.Query("b"), keyfuncs.Query("c"))
	for _, c := range []struct {
		query map[string]string
		want  string
	}{
		{map[string]string{"a": "x", "b": "y"}, "x"},
		{map[string]string{"b": "x"}, "\x001:x"},
		{map[string]string{"c": "x"}, "\x002:x"},
		{map[string]string{"a": "\x001:x"}, "\x000:\x001:x"},
		{map[string]string{"a": "\x00"}, "\x000:\x00"},
		{map[string]string{"b": "\x001:x"}, "\x001:\x001:x"},
		{map[string]string{"a": "1:x"}, "1:x"},
		{nil, none},
	} {
		if got := keyOf(t, key, request{query: c.query}); got != c.want {
			t.Errorf("%q: key %q, want %q", c.query, got, c.want)
		}
	}
	empty := func(core.Request) (string, error) { return "", nil }
	if got := keyOf(t, keyfuncs.First(empty, keyfuncs.All()), request{}); got != "\x001:all" {
		t.Errorf("an empty key is found: %q", got)
	}
}

func FuzzAlternativesOfFirstNeverMeet(f *testing.F) {
	f.Add("x", "x")
	f.Add("\x001:x", "x")
	f.Add("\x00", "\x000:")
	f.Add("\x001:\x000:", "\x000:")
	key := keyfuncs.First(keyfuncs.Query("a"), keyfuncs.Query("b"))
	f.Fuzz(func(t *testing.T, a, b string) {
		if a == "" || b == "" {
			return
		}
		ofA, _ := key(request{query: map[string]string{"a": a}})
		ofB, _ := key(request{query: map[string]string{"b": b}})
		if ofA == ofB {
			t.Errorf("%q of one alternative and %q of the other are both %q", a, b, ofA)
		}
		if other, _ := key(request{query: map[string]string{"a": b}}); a != b && other == ofA {
			t.Errorf("%q and %q of one alternative are both %q", a, b, ofA)
		}
	})
}

func TestMisuseOfKeysPanicsWithTheMend(t *testing.T) {
	for _, c := range []struct {
		name string
		make func()
		mend string
	}{
		{"User", func() { keyfuncs.User(nil) }, "give the function"},
		{"Header", func() { keyfuncs.Header("") }, "give the name"},
		{"Cookie", func() { keyfuncs.Cookie("") }, "give the name"},
		{"Query", func() { keyfuncs.Query("") }, "give the name"},
		{"Form", func() { keyfuncs.Form("") }, "give the name"},
		{"First of none", func() { keyfuncs.First() }, "give at least one"},
		{"First of nil", func() { keyfuncs.First(keyfuncs.All(), nil) }, "key 1 is nil"},
	} {
		t.Run(c.name, func(t *testing.T) { mustPanic(t, c.mend, c.make) })
	}
}

func TestHugeKeysStayApart(t *testing.T) {
	huge := strings.Repeat("k", 1<<20)
	for name, key := range map[string]core.Key{"header": keyfuncs.Header("X-API-Key"), "join": core.Join(keyfuncs.Header("X-API-Key"), keyfuncs.All())} {
		a, b := keyOf(t, key, with("X-API-Key", huge+"a")), keyOf(t, key, with("X-API-Key", huge+"b"))
		if a == b || len(a) > 64 {
			t.Errorf("%s: keys of %d bytes, equal: %v", name, len(a), a == b)
		}
	}
}
