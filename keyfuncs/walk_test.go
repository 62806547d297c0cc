package keyfuncs

import (
	"net/netip"
	"testing"
)

// FuzzDotted: what is read quickly is read as anything else is.
func FuzzDotted(f *testing.F) {
	for _, text := range []string{
		"192.0.2.1:80", "0.0.0.0:80", "255.255.255.255:65535", "256.1.1.1:80", "1.2.3.4", "1.2.3.4:", "1.2.3.4:x", "1.2.3.4:_x",
		"01.2.3.4:80", "0.0.0.1:1", "1.2.3:80", "1.2.3.4.5:80", "1..3.4:80", ".1.2.3:80", "1.2.3.4:80:90", "::1", "[::1]:80", "", ":", "99999999999999999999.1.1.1:1",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		octets, length := parseDotted(text)
		quick := node{netip.AddrFrom4(octets), text[:length], true}
		if want := parseAny(text); length > 0 && quick != want {
			t.Errorf("%q: %v, want %v", text, quick, want)
		}
	})
}

func TestMostPeersAreReadQuickly(t *testing.T) {
	for _, text := range []string{"192.0.2.1:80", "255.255.255.255:65535", "0.0.0.1:1", "10.0.0.1:51234"} {
		if _, length := parseDotted(text); length == 0 {
			t.Errorf("%q is not", text)
		}
	}
}
