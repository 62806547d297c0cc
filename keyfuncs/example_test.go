package keyfuncs_test

import (
	"fmt"
	"net/http"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

func show(key core.Key, r core.Request) {
	text, err := key(r)
	fmt.Println(text, err)
}

// A client that rotates X-Forwarded-For stays the same client.
func ExampleIP() {
	key := keyfuncs.IP()
	for _, forged := range []string{"203.0.113.1", "203.0.113.2", "127.0.0.1"} {
		show(key, request{
			peer:   "198.51.100.7:51234",
			header: http.Header{"X-Forwarded-For": {forged}},
		})
	}
	// Output:
	// 198.51.100.7 <nil>
	// 198.51.100.7 <nil>
	// 198.51.100.7 <nil>
}

// One subscriber has at least a whole /64 of IPv6.
func ExampleIP_ipv6() {
	key := keyfuncs.IP()
	show(key, request{peer: "[2001:db8:1:2::1]:51234"})
	show(key, request{peer: "[2001:db8:1:2:dead:beef:0:1]:51234"})
	show(key, request{peer: "[2001:db8:1:3::1]:51234"})
	// Output:
	// 2001:db8:1:2::/64 <nil>
	// 2001:db8:1:2::/64 <nil>
	// 2001:db8:1:3::/64 <nil>
}

// The proxies' reports are believed, what the client wrote before them is not, and
// nothing is believed of a peer that is no proxy.
func ExampleTrustProxies() {
	key := keyfuncs.IP(keyfuncs.TrustProxies("10.0.0.0/8"))
	forged := "192.0.2.99"
	show(key, request{
		peer:   "10.0.0.2:443",
		header: http.Header{"X-Forwarded-For": {forged + ", 198.51.100.7, 10.0.0.9"}},
	})
	show(key, request{
		peer:   "203.0.113.66:51234", // came round the proxies
		header: http.Header{"X-Forwarded-For": {forged + ", 198.51.100.7, 10.0.0.9"}},
	})
	// Output:
	// 198.51.100.7 <nil>
	// 203.0.113.66 <nil>
}

// A quote that the client never closes does not swallow the proxy's element.
func ExampleForwardedHeader() {
	key := keyfuncs.IP(keyfuncs.TrustProxies("10.0.0.0/8"), keyfuncs.ForwardedHeader())
	show(key, request{
		peer:   "10.0.0.2:443",
		header: http.Header{"Forwarded": {`for="192.0.2.99, for=198.51.100.7;proto=https`}},
	})
	// Output:
	// 198.51.100.7 <nil>
}

// An API key where there is one, else the address; the two never meet, and the API
// key is not to be read from the store.
func ExampleFirst() {
	key := keyfuncs.First(keyfuncs.Header("X-API-Key"), keyfuncs.IP())
	text, _ := key(request{peer: "198.51.100.7:51234"})
	fmt.Printf("%q\n", text)
	text, _ = key(request{peer: "198.51.100.7:51234", header: http.Header{"X-Api-Key": {"198.51.100.7"}}})
	fmt.Printf("%q\n", text)
	// Output:
	// "\x001:198.51.100.7"
	// "4YMiC2mcEKg8p740M9Io7Q"
}
