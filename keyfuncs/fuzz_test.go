package keyfuncs_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/ratelimit-go/ratelimit/internal/hostile"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

// addSeeds gives the fuzzer all header values of the table of hostile requests, and
// some of 64 KiB.
func addSeeds(f *testing.F) {
	for _, part := range []string{"1.1.1.1, ", "for=1.1.1.1,", ",", `"`, `\`, "for=\"", "[", "1", "sid=1;"} {
		f.Add(strings.Repeat(part, 1<<16/len(part)))
	}
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

// FuzzWhatAProxyReports: whatever a trusted proxy hands on, the client is one address in
// one form.
func FuzzWhatAProxyReports(f *testing.F) {
	addSeeds(f)
	trust := keyfuncs.TrustProxies("10.0.0.0/8")
	clients := []*keyfuncs.Client{
		keyfuncs.NewClient(trust), keyfuncs.NewClient(trust, keyfuncs.ForwardedHeader()), keyfuncs.NewClient(trust, keyfuncs.SingleHeader("X-Real-IP")),
	}
	f.Fuzz(func(t *testing.T, line string) {
		r := with("X-Forwarded-For", line, "Forwarded", line, "X-Real-IP", line)
		r.peer = "10.0.0.2:80"
		for _, client := range clients {
			addr := client.Addr(r)
			if !addr.IsValid() || addr.Is4In6() || addr.Zone() != "" || addr.IsUnspecified() {
				t.Errorf("%q is the client %v", line, addr)
			}
			want := addr.String()
			if addr.Is6() {
				want = netip.PrefixFrom(addr, 64).Masked().String()
			}
			if key, err := client.Key(r); key != want || err != nil {
				t.Errorf("%q has the key %q, %v; want %q", line, key, err, want)
			}
		}
	})
}

// FuzzCookie: a session that net/http reads has one key, whatever stands around it.
func FuzzCookie(f *testing.F) {
	addSeeds(f)
	key := keyfuncs.Cookie("sid")
	f.Fuzz(func(t *testing.T, line string) {
		if strings.ContainsAny(line, "\r\n") {
			return // no line of a header has one
		}
		r := with("Cookie", line)
		got, err := key(r)
		if read := (&http.Request{Header: r.header}).CookiesNamed("sid"); len(read) == 1 && err == nil {
			if value := read[0].Value; got != hashOf(value) && got != hashOf(strings.Trim(value, " \t")) {
				t.Errorf("%q is the session %q, and has the key %q", line, value, got)
			}
		}
	})
}

// FuzzBasicUser: whom net/http reads is counted.
func FuzzBasicUser(f *testing.F) {
	addSeeds(f)
	key := keyfuncs.BasicUser()
	f.Fuzz(func(t *testing.T, line string) {
		r := with("Authorization", line)
		got, err := key(r)
		user, _, ok := (&http.Request{Header: r.header}).BasicAuth()
		if ok && user != "" && (got != user || err != nil) {
			t.Errorf("%q is the user %q, and has the key %q, %v", line, user, got, err)
		}
	})
}
