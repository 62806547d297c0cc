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

// FuzzNetwork: whatever is read is a network in one form, and is read again as itself.
func FuzzNetwork(f *testing.F) {
	for _, text := range []string{"10.0.0.0/8", "192.0.2.1", "2001:db8::1/32", "::ffff:10.0.0.1/104", "::ffff:10.0.0.0/8", "fe80::1%eth0", "::/0", "10.0.0.0/33", "10.0.0.0/08"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		network, err := parseNetwork(text)
		if err != nil {
			return
		}
		if network != network.Masked() || !network.IsValid() || network.Addr().Is4In6() || network.Addr().Zone() != "" {
			t.Errorf("%q is read as %v", text, network)
		}
		if again, err := parseNetwork(network.String()); err != nil || again != network {
			t.Errorf("%q is %v, which is read as %v, %v", text, network, again, err)
		}
	})
}
