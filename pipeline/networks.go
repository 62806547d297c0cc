package pipeline

import (
	"net/netip"
	"strconv"
	"strings"
)

// networks is a list of networks, IPv4 never as IPv6.
type networks []netip.Prefix

// mustNetworks reads a list of networks and single addresses.
func mustNetworks(option string, texts []string) networks {
	list := make(networks, 0, len(texts))
	for _, text := range texts {
		network, ok := parseNetwork(text)
		if !ok {
			panic("ratelimit: Options." + option + ": " + strconv.Quote(text) + " is no network: write it as 10.0.0.0/8 or 192.0.2.1")
		}
		list = append(list, network)
	}
	return list
}

func parseNetwork(text string) (netip.Prefix, bool) {
	if !strings.Contains(text, "/") {
		addr, err := netip.ParseAddr(text)
		if err != nil || addr.Zone() != "" {
			return netip.Prefix{}, false
		}
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), true
	}
	network, err := netip.ParsePrefix(text)
	if err == nil && network.Addr().Is4In6() {
		network = netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-96)
	}
	return network.Masked(), err == nil && network.IsValid()
}

func (n networks) contain(addr netip.Addr) bool {
	for _, network := range n {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}
