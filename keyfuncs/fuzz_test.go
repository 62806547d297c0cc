package keyfuncs_test

import (
	"net/netip"
	"testing"

	"github.com/ratelimit-go/ratelimit/internal/hostile"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

// addSeeds gives the fuzzer all header values of the table of hostile requests.
func addSeeds(f *testing.F) {
	for _, c := range hostile.Clients() {
		for _, line := range c.Lines {
			f.Add(line[1])
		}
	}
}

// What a client writes comes before what the proxy appends, in the same line or in
// an earlier one: it must never change who the client is.

func FuzzNothingToTheLeftChangesTheClient(f *testing.F) {
	addSeeds(f)
	const client = "198.51.100.7"
	xff := keyfuncs.IP(keyfuncs.TrustProxies("10.0.0.0/8"))
	forwarded := keyfuncs.IP(keyfuncs.TrustProxies("10.0.0.0/8"), keyfuncs.ForwardedHeader())
	f.Fuzz(func(t *testing.T, forged string) {
		for name, r := range map[string]request{
			"one line":       with("X-Forwarded-For", forged+", "+client, "Forwarded", forged+", for="+client),
			"a line each":    with("X-Forwarded-For", forged, "X-Forwarded-For", client, "Forwarded", forged, "Forwarded", "for="+client),
			"another hop":    with("X-Forwarded-For", forged+","+client+",10.0.0.3", "Forwarded", forged+`,for="`+client+`:80",for=10.0.0.3`),
			"an empty value": with("X-Forwarded-For", forged+","+client+", ", "Forwarded", forged+",for="+client+";proto=http, "),
		} {
			r.peer = "10.0.0.2:80"
			if got, err := xff(r); err != nil || got != client {
				t.Errorf("%s, X-Forwarded-For: %q, %v; want %s", name, got, err, client)
			}
			if got, err := forwarded(r); err != nil || got != client {
				t.Errorf("%s, Forwarded: %q, %v; want %s", name, got, err, client)
			}
		}
	})
}

func FuzzAnUntrustedPeerIsTheClient(f *testing.F) {
	addSeeds(f)
	plain, trusting := keyfuncs.IP(), keyfuncs.IP(keyfuncs.TrustProxies("10.0.0.0/8"))
	single := keyfuncs.IP(keyfuncs.TrustProxies("10.0.0.0/8"), keyfuncs.SingleHeader("X-Forwarded-For"))
	f.Fuzz(func(t *testing.T, forged string) {
		r := with("X-Forwarded-For", forged)
		for _, key := range []func() (string, error){
			func() (string, error) { return plain(r) },
			func() (string, error) { return trusting(r) },
			func() (string, error) { return single(r) },
		} {
			if got, err := key(); err != nil || got != "198.51.100.7" {
				t.Errorf("key %q, %v; want the peer", got, err)
			}
		}
	})
}

// FuzzAddress: whatever is read is in one form, and is read again as itself.
func FuzzAddress(f *testing.F) {
	addSeeds(f)
	client := keyfuncs.NewClient(keyfuncs.IPv6Prefix(128))
	f.Fuzz(func(t *testing.T, peer string) {
		addr := client.Addr(request{peer: peer})
		if !addr.IsValid() {
			if key, _ := client.Key(request{peer: peer}); key != keyfuncs.NoAddress {
				t.Errorf("%q has no address and the key %q", peer, key)
			}
			return
		}
		if addr.Is4In6() || addr.Zone() != "" || addr.IsUnspecified() {
			t.Errorf("%q is read as %v", peer, addr)
		}
		key, _ := client.Key(request{peer: peer})
		for _, form := range []string{addr.String(), netip.AddrPortFrom(addr, 80).String()} {
			again := request{peer: form}
			if got := client.Addr(again); got != addr {
				t.Errorf("%q is %v, and %q is %v", peer, addr, form, got)
			}
			if got, _ := client.Key(again); got != key {
				t.Errorf("%q has the key %q, and %q has %q", peer, key, form, got)
			}
		}
	})
}
