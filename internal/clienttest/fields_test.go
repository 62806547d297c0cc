package clienttest

import (
	"net/http"
	"testing"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/headers"
	ratelimit "github.com/ratelimit-go/ratelimit/nethttp"
)

// The policies cover what the fields can look like: hostile names, a name that is
// a limit, a capacity without a whole window, a huge one, a tiny one.
var shown = []core.Policy{
	core.PerMinute(3),
	core.PerMinute(3).Named(`a"b\c`),
	core.PerMinute(3).Named(`, ;q=1, x`),
	core.PerSecond(10).TokenBucket(15).Named("burst"),
	core.PerSecond(1_000_000).TokenBucket(1_000_000_000).Named("huge"),
	core.Per(1_000, time.Millisecond).FixedWindow().Named("tiny"),
	core.PerDay(1_000_000).Named("day"),
	core.PerMinute(1).Named("dry").AsDryRun(),
}

// answers are those of a server with the policies: three admitted, then refused.
func answers(t *testing.T, dialects ...headers.Dialect) []http.Header {
	limits := ratelimit.With(ratelimit.Options{Dialects: dialects})
	s := serve(t, limits.New(shown...)(ok))
	var all []http.Header
	for i := range 5 {
		answer, err := http.Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if want := []int{200, 200, 200, 429, 429}[i]; answer.StatusCode != want {
			t.Fatalf("answer %d: status %d, want %d", i, answer.StatusCode, want)
		}
		all = append(all, answer.Header)
	}
	return all
}

func TestListsOfDraft11(t *testing.T) {
	for i, header := range answers(t, headers.Draft11) {
		policies := list(t, header, "RateLimit-Policy")
		states := list(t, header, "RateLimit")
		if len(policies) != len(shown)-1 || len(states) != len(shown)-1 {
			t.Fatalf("answer %d: %d policies and %d states, want %d of each", i, len(policies), len(states), len(shown)-1)
		}
		for j, policy := range policies {
			want := shown[j].DisplayName()
			if policy.Value != want || states[j].Value != want {
				t.Errorf("answer %d: names %#v and %#v, want %q", i, policy.Value, states[j].Value, want)
			}
			integer(t, policy.Params, "q", 1, 1_000_000_000)
			if _, whole := policy.Params.Get("w"); whole != (want != "burst" && want != "tiny") {
				t.Errorf("answer %d: %q has a window: %v", i, want, whole)
			}
			integer(t, states[j].Params, "r", 0, 1_000_000_000)
			integer(t, states[j].Params, "t", 0, 2*86_400)
		}
	}
}

// list reads a field as a list of items.
func list(t *testing.T, header http.Header, name string) []httpsfv.Item {
	t.Helper()
	members, err := httpsfv.UnmarshalList(header.Values(name))
	if err != nil {
		t.Fatalf("%s: %q: %v", name, header.Values(name), err)
	}
	var items []httpsfv.Item
	for _, member := range members {
		item, single := member.(httpsfv.Item)
		if !single {
			t.Fatalf("%s: %q: a member is no item", name, header.Values(name))
		}
		items = append(items, item)
	}
	return items
}

func integer(t *testing.T, params *httpsfv.Params, key string, least, most int64) {
	t.Helper()
	value, _ := params.Get(key)
	if n, whole := value.(int64); !whole || n < least || n > most {
		t.Errorf("parameter %s is %#v, want an integer from %d to %d", key, value, least, most)
	}
}

func TestItemsOfTheOlderDialects(t *testing.T) {
	for _, c := range []struct {
		dialect headers.Dialect
		prefix  string
	}{
		{headers.Classic, "RateLimit-"}, {headers.Draft06, "RateLimit-"},
		{headers.XSeconds, "X-RateLimit-"}, {headers.XEpoch, "X-RateLimit-"},
	} {
		for i, header := range answers(t, c.dialect) {
			limit, remaining := item(t, header, c.prefix+"Limit"), item(t, header, c.prefix+"Remaining")
			if want := int64(max(0, 2-i)); limit != 3 || remaining != want {
				t.Errorf("%v, answer %d: limit %d, remaining %d; want 3 and %d", c.dialect, i, limit, remaining, want)
			}
			reset := item(t, header, c.prefix+"Reset")
			if c.dialect == headers.XEpoch {
				reset -= time.Now().Unix()
			}
			if reset < 1 || reset > 121 {
				t.Errorf("%v, answer %d: reset in %d s", c.dialect, i, reset)
			}
		}
	}
}

// item reads a field as one integer without parameters.
func item(t *testing.T, header http.Header, name string) int64 {
	t.Helper()
	read, err := httpsfv.UnmarshalItem(header.Values(name))
	if err != nil {
		t.Fatalf("%s: %q: %v", name, header.Values(name), err)
	}
	n, whole := read.Value.(int64)
	if !whole || len(read.Params.Names()) > 0 {
		t.Fatalf("%s: %q is no bare integer", name, header.Values(name))
	}
	return n
}

func TestPolicyListOfTheOlderDialects(t *testing.T) {
	for _, dialect := range []headers.Dialect{headers.Draft06, headers.Draft07} {
		for _, header := range answers(t, dialect) {
			policies := list(t, header, "RateLimit-Policy")
			if len(policies) != len(shown)-1 {
				t.Fatalf("%v: %d policies, want %d", dialect, len(policies), len(shown)-1)
			}
			for _, policy := range policies {
				if _, whole := policy.Value.(int64); !whole {
					t.Errorf("%v: %#v is no integer", dialect, policy.Value)
				}
				integer(t, policy.Params, "w", 1, 86_400)
			}
		}
	}
}

func TestDictionaryOfDraft07(t *testing.T) {
	for i, header := range answers(t, headers.Draft07) {
		state, err := httpsfv.UnmarshalDictionary(header.Values("RateLimit"))
		if err != nil {
			t.Fatalf("%q: %v", header.Values("RateLimit"), err)
		}
		for key, most := range map[string]int64{"limit": 3, "remaining": 2, "reset": 120} {
			member, _ := state.Get(key)
			read, _ := member.(httpsfv.Item)
			if n, whole := read.Value.(int64); !whole || n < 0 || n > most {
				t.Errorf("answer %d: %s is %#v", i, key, member)
			}
		}
	}
}

func TestTheDefaultFieldsAreAllThere(t *testing.T) {
	for i, header := range answers(t) {
		for _, name := range []string{"RateLimit-Policy", "RateLimit", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
			if lines := header.Values(name); len(lines) != 1 {
				t.Errorf("answer %d: %s has the lines %q, want one", i, name, lines)
			}
		}
		if refused := i >= 3; refused != (len(header.Values("Retry-After")) == 1) {
			t.Errorf("answer %d: Retry-After %q", i, header.Values("Retry-After"))
		}
	}
}
