package keyfuncs

import (
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// IPOption is a choice for [IP] and [NewClient].
type IPOption func(*Client)

// TrustProxies names the networks of your own proxies, as "10.0.0.0/8" or
// "192.0.2.1"; "unix" is a proxy that comes through a unix socket. Only what a
// trusted peer reports is believed: the lines of X-Forwarded-For are walked from
// the right, from proxy to proxy, to the first address that is not trusted, which
// is the client. At an element that is no address the walk ends at the last proxy
// reached; where all are trusted, the leftmost is the client.
//
// Name every hop, a content delivery network's ranges too, and nothing that clients
// can connect from. [ForwardedHeader] and [SingleHeader] choose another header;
// exactly one is ever read. It panics without a network, on one that is not legal,
// and on 0.0.0.0/0 and ::/0, which would let every client choose its address.
func TrustProxies(networks ...string) IPOption {
	if len(networks) == 0 {
		panic("ratelimit: keyfuncs.TrustProxies(): name the networks of your proxies, or leave it out")
	}
	var trusted []netip.Prefix
	unix := false
	for _, text := range networks {
		if text == "unix" {
			unix = true
			continue
		}
		trusted = append(trusted, mustNetwork(text))
	}
	return func(c *Client) {
		c.trusted = append(c.trusted, trusted...)
		c.trustUnix = c.trustUnix || unix
	}
}

// ForwardedHeader reads the proxies' reports from the Forwarded field (RFC 7239)
// instead of X-Forwarded-For, with the same walk. Nodes that are "unknown" or
// obfuscated are no addresses and end it. It needs [TrustProxies].
func ForwardedHeader() IPOption {
	return func(c *Client) { c.read("Forwarded", forwardedFor) }
}

// SingleHeader reads the client's address from a field that a trusted proxy sets
// to one address, such as CF-Connecting-IP or X-Real-IP. Where it is missing,
// sent twice or no address, the client is the peer. The proxy must overwrite what
// clients send under that name. It needs [TrustProxies], and panics on an empty
// name.
func SingleHeader(name string) IPOption {
	mustName("SingleHeader", name)
	return func(c *Client) {
		c.read(http.CanonicalHeaderKey(name), parseNode)
		c.single = true
	}
}

// IPv6Prefix groups IPv6 addresses by their first bits, 32 to 128. The default is
// 64, what one subscriber has at least; providers that give out more are met by 56
// or 48. It panics on anything else.
func IPv6Prefix(bits int) IPOption {
	if bits < 32 || bits > 128 {
		panic("ratelimit: keyfuncs.IPv6Prefix(" + strconv.Itoa(bits) + "): give 32 to 128")
	}
	return func(c *Client) { c.ipv6Bits = bits }
}

func (c *Client) read(header string, element func(string) node) {
	if c.header != "" {
		panic("ratelimit: keyfuncs.IP: headers " + c.header + " and " + header + ": choose one")
	}
	c.header, c.node = header, element
}

func mustNetwork(text string) netip.Prefix {
	network, err := parseNetwork(text)
	if err != nil {
		panic("ratelimit: keyfuncs.TrustProxies: " + strconv.Quote(text) + " is no network: write it as 10.0.0.0/8, 192.0.2.1 or unix")
	}
	if network.Bits() == 0 {
		panic("ratelimit: keyfuncs.TrustProxies: " + text + " trusts everybody, so that every client could choose its address: name your proxies' networks")
	}
	return network
}

// parseNetwork reads a network or a single address, IPv4 written as IPv6 too.
func parseNetwork(text string) (netip.Prefix, error) {
	if !strings.Contains(text, "/") {
		addr, err := netip.ParseAddr(text)
		if err != nil || addr.Zone() != "" {
			return netip.Prefix{}, errNoNetwork
		}
		return netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	if err == nil && network.Addr().Is4In6() {
		network = netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-96)
	}
	if err != nil || !network.IsValid() {
		return netip.Prefix{}, errNoNetwork
	}
	return network.Masked(), nil
}
