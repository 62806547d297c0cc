package pipeline

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
)

// uncomparable is a store that cannot be a key of a map.
type uncomparable struct {
	core.Store
	_ []int
}

type hook = func(int)

func options(store core.Store) Options[int, hook, hook] {
	return Options[int, hook, hook]{Store: store}
}

func TestNames(t *testing.T) {
	five := core.PerMinute(5).Named("p")
	store := core.NewMemory()
	for _, c := range []struct {
		name          string
		first, second core.Store
		policy        core.Policy
		mend          string // "": it is legal
	}{
		{"the same policy", store, store, five, ""},
		{"the same with another action", core.NewMemory(), nil, five.Degrading(), ""},
		{"the default spelled out", nil, nil, core.PerMinute(5).SlidingWindowCounter(1).Named("p"), ""},
		{"another count", nil, nil, core.PerMinute(6).Named("p"), "two different limits"},
		{"another period", nil, nil, core.PerHour(5).Named("p"), "two different limits"},
		{"another algorithm", nil, nil, five.FixedWindow(), "two different limits"},
		{"another number of intervals", nil, nil, five.SlidingWindowCounter(6), "two different limits"},
		{"another store", core.NewMemory(), core.NewMemory(), core.PerMinute(6).Named("p"), ""},
		{"a store that cannot be compared", uncomparable{Store: store}, uncomparable{Store: store}, five, ""},
		{"no name", nil, nil, core.PerMinute(5), "give it one with Named"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.first == nil {
				c.first = core.NewMemory()
			}
			if c.second == nil {
				c.second = c.first
			}
			With(options(c.first)).Path(five)
			wantPanic(t, c.mend, func() { With(options(c.second)).Path(c.policy) })
		})
	}
}

func TestNamesOfPrivateStore(t *testing.T) {
	limits := With(options(nil))
	limits.Path(core.PerMinute(5))
	limits.Path(core.PerMinute(6))
	limits.Path(core.PerMinute(7).Named("p"))
	limits.Path(core.PerMinute(7).Named("p"))
	wantPanic(t, "name them apart", func() { limits.Path(core.PerMinute(5)) })
}

func wantPanic(t *testing.T, text string, f func()) {
	t.Helper()
	defer func() {
		got, _ := recover().(string)
		if text == "" && got != "" || !strings.Contains(got, text) {
			t.Errorf("panic %q, want %q", got, text)
		}
	}()
	f()
}

func TestNetworks(t *testing.T) {
	list := mustNetworks("Allow", []string{"10.0.0.0/8", "192.0.2.1", "::ffff:198.51.100.0/120", "2001:db8::/32"})
	for addr, want := range map[string]bool{
		"10.255.0.1": true, "11.0.0.1": false, "192.0.2.1": true, "192.0.2.2": false,
		"198.51.100.9": true, "198.51.101.9": false, "2001:db8::9": true, "2001:db9::9": false,
	} {
		if got := list.contain(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s in the list: %v, want %v", addr, got, want)
		}
	}
	if list.contain(netip.Addr{}) {
		t.Error("a client without an address is in the list")
	}
	for _, text := range []string{"", "nowhere", "10.0.0.0/33", "10.0.0.0/", "fe80::1%eth0", "::ffff:0:0/95"} {
		wantPanic(t, "Options.Deny", func() { mustNetworks("Deny", []string{text}) })
	}
}
