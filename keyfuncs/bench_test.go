package keyfuncs_test

import (
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

func BenchmarkKey(b *testing.B) {
	proxied := with("X-Forwarded-For", "203.0.113.66, 198.51.100.7, 10.0.0.9", "Forwarded", "for=198.51.100.7;proto=https")
	proxied.peer = "10.0.0.2:443"
	ipv6 := request{peer: "[2001:db8:1:2::1]:51234"}
	trust := keyfuncs.TrustProxies("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
	for _, c := range []struct {
		name string
		key  core.Key
		r    core.Request
	}{
		{"ip=peer", keyfuncs.IP(), with()},
		{"ip=peer6", keyfuncs.IP(), ipv6},
		{"ip=xff", keyfuncs.IP(trust), proxied},
		{"ip=forwarded", keyfuncs.IP(trust, keyfuncs.ForwardedHeader()), proxied},
		{"header", keyfuncs.Header("X-API-Key"), with("X-API-Key", "0123456789abcdef0123456789abcdef0123456789abcdef")},
		{"first", keyfuncs.First(keyfuncs.IP()), with()},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if key, err := c.key(c.r); key == "" || err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
