package keyfuncs_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/ratelimit-go/ratelimit/internal/hostile"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

func TestIPOfHostileRequests(t *testing.T) {
	for _, c := range hostile.Clients() {
		t.Run(c.Name, func(t *testing.T) {
			r := request{peer: c.Peer, header: http.Header{}}
			for _, line := range c.Lines {
				r.header.Add(line[0], line[1])
			}
			got, err := keyfuncs.IP(c.Options()...)(r)
			if err != nil || got != c.Want {
				t.Errorf("key %q, %v; want %q", got, err, c.Want)
			}
		})
	}
}

func TestAddrIsWhole(t *testing.T) {
	client := keyfuncs.NewClient(keyfuncs.TrustProxies("10.0.0.0/8"))
	for _, c := range []struct{ peer, reported, want string }{
		{"198.51.100.7:1", "203.0.113.66", "198.51.100.7"},
		{"10.0.0.2:1", "203.0.113.66", "203.0.113.66"},
		{"10.0.0.2:1", "[2001:db8::1%eth0]:80", "2001:db8::1"},
		{"[::ffff:198.51.100.7]:1", "", "198.51.100.7"},
	} {
		r := with("X-Forwarded-For", c.reported)
		r.peer = c.peer
		if got := client.Addr(r); got != netip.MustParseAddr(c.want) {
			t.Errorf("peer %s reports %q: %v, want %s", c.peer, c.reported, got, c.want)
		}
	}
	if got := client.Addr(request{peer: "@"}); got.IsValid() {
		t.Errorf("a unix socket has the address %v, want none", got)
	}
}

// known is a request of a server that knows its peer's address as such.
type known struct {
	request
	addr netip.Addr
}

func (k known) Peer() string         { return "not to be asked for" }
func (k known) PeerAddr() netip.Addr { return k.addr }

func TestAPeerKnownAsAnAddress(t *testing.T) {
	for _, c := range []struct{ name, addr, reported, want string }{
		{"IPv4", "198.51.100.7", "", "198.51.100.7"},
		{"IPv4 as IPv6", "::ffff:198.51.100.7", "", "198.51.100.7"},
		{"IPv6", "2001:db8:1:2::1", "", "2001:db8:1:2::/64"},
		{"a zone", "fe80::1%eth0", "", "fe80::/64"},
		{"nowhere", "0.0.0.0", "", keyfuncs.NoAddress},
		{"a stranger that reports another", "198.51.100.7", "203.0.113.66", "198.51.100.7"},
		{"a proxy", "10.0.0.2", "203.0.113.66", "203.0.113.66"},
		{"a proxy as IPv6", "::ffff:10.0.0.2", "203.0.113.66", "203.0.113.66"},
	} {
		r := known{with("X-Forwarded-For", c.reported), netip.MustParseAddr(c.addr)}
		trusting := keyfuncs.IP(keyfuncs.TrustProxies("10.0.0.0/8"))
		if got, err := trusting(r); err != nil || got != c.want {
			t.Errorf("%s behind proxies: key %q, %v; want %q", c.name, got, err, c.want)
		}
		if got, err := keyfuncs.IP()(r); c.reported == "" && (err != nil || got != c.want) {
			t.Errorf("%s: key %q, %v; want %q", c.name, got, err, c.want)
		}
	}
	if got, err := keyfuncs.IP()(known{}); err != nil || got != keyfuncs.NoAddress {
		t.Errorf("a unix socket: key %q, %v; want %q", got, err, keyfuncs.NoAddress)
	}
}

func TestMisuseOfIPPanicsWithTheMend(t *testing.T) {
	for _, c := range []struct {
		name string
		make func()
		mend string
	}{
		{"no network", func() { keyfuncs.TrustProxies() }, "name the networks"},
		{"empty network", func() { keyfuncs.TrustProxies("") }, "write it as"},
		{"host name", func() { keyfuncs.TrustProxies("proxy.internal") }, "write it as"},
		{"bits too large", func() { keyfuncs.TrustProxies("10.0.0.0/33") }, "write it as"},
		{"port", func() { keyfuncs.TrustProxies("10.0.0.1:80") }, "write it as"},
		{"zone", func() { keyfuncs.TrustProxies("fe80::1%eth0") }, "write it as"},
		{"half of IPv6 as IPv4", func() { keyfuncs.TrustProxies("::ffff:0.0.0.0/90") }, "write it as"},
		{"all of IPv4", func() { keyfuncs.TrustProxies("10.0.0.0/8", "0.0.0.0/0") }, "name your proxies"},
		{"all of IPv4 by another address", func() { keyfuncs.TrustProxies("1.2.3.4/0") }, "name your proxies"},
		{"all of IPv4 as IPv6", func() { keyfuncs.TrustProxies("::ffff:0.0.0.0/96") }, "name your proxies"},
		{"all of IPv6", func() { keyfuncs.TrustProxies("::/0") }, "name your proxies"},
		{"bits too few", func() { keyfuncs.IPv6Prefix(31) }, "give 32 to 128"},
		{"bits too many", func() { keyfuncs.IPv6Prefix(129) }, "give 32 to 128"},
		{"nameless header", func() { keyfuncs.SingleHeader("") }, "give the name"},
		{"nil option", func() { keyfuncs.IP(nil) }, "leave it out"},
		{"single header of nobody", func() { keyfuncs.IP(keyfuncs.SingleHeader("X-Real-IP")) }, "TrustProxies"},
		{"Forwarded of nobody", func() { keyfuncs.IP(keyfuncs.ForwardedHeader()) }, "TrustProxies"},
		{"two headers", func() {
			keyfuncs.IP(keyfuncs.TrustProxies("10.0.0.0/8"), keyfuncs.ForwardedHeader(), keyfuncs.SingleHeader("X-Real-IP"))
		}, "choose one"},
	} {
		t.Run(c.name, func(t *testing.T) { mustPanic(t, c.mend, c.make) })
	}
}

func mustPanic(t *testing.T, mend string, misuse func()) {
	t.Helper()
	defer func() {
		text, _ := recover().(string)
		if !strings.HasPrefix(text, "ratelimit: ") || !strings.Contains(text, mend) {
			t.Errorf("panic %q, want the mend %q", text, mend)
		}
	}()
	misuse()
}

func TestALongHeaderCostsLittle(t *testing.T) {
	key := keyfuncs.IP(keyfuncs.TrustProxies("10.0.0.0/8"))
	for name, line := range map[string]string{
		"one element":      strings.Repeat("1", 1<<20),
		"spaces":           strings.Repeat(" ", 1<<20),
		"commas":           strings.Repeat(",", 1<<20),
		"trusted hops":     strings.Repeat("10.0.0.2,", 1<<17),
		"one long quote":   `"` + strings.Repeat("x,", 1<<19),
		"empty quotes":     strings.Repeat(`""`, 1<<19),
		"only backslashes": strings.Repeat(`\`, 1<<20),
	} {
		r := with("X-Forwarded-For", line)
		r.peer = "10.0.0.2:1"
		if got, _ := key(r); got != "10.0.0.2" {
			t.Errorf("%s: key %q, want the proxy's", name, got)
		}
		if n := testing.AllocsPerRun(10, func() { _, _ = key(r) }); n > 2 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
