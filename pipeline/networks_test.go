package pipeline

import "testing"

// FuzzNetwork: whatever is read is a network in one form, and is read again as itself.
func FuzzNetwork(f *testing.F) {
	for _, text := range []string{"10.0.0.0/8", "192.0.2.1", "2001:db8::1/32", "::ffff:10.0.0.1/104", "::ffff:10.0.0.0/8", "fe80::1%eth0", "::/0", "10.0.0.0/33", "10.0.0.0/08"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		network, ok := parseNetwork(text)
		if !ok {
			return
		}
		if network != network.Masked() || !network.IsValid() || network.Addr().Is4In6() || network.Addr().Zone() != "" {
			t.Errorf("%q is read as %v", text, network)
		}
		if again, ok := parseNetwork(network.String()); !ok || again != network {
			t.Errorf("%q is %v, which is read as %v", text, network, again)
		}
	})
}
