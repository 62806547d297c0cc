package keyfuncs

import (
	"net/netip"

	"github.com/ratelimit-go/ratelimit/core"
)

// NoAddress is the key of [IP] for a client that has no address, such as the peer
// of a unix socket: all of them are counted together.
const NoAddress = "unix"

// IP counts by the client's address: that of the peer, never one from a header,
// unless [TrustProxies] says who may report it. Ports, brackets and zones are
// dropped, an IPv4 address written as IPv6 is the IPv4 address, and IPv6 is
// grouped by /64 (see [IPv6Prefix]). A client without an address is [NoAddress].
func IP(options ...IPOption) core.Key { return NewClient(options...).Key }

// Client finds the address of a request's client. [IP] is its key; its own use is
// for lists of networks, which ask for the address itself. It is made by
// [NewClient]; the zero Client is not for use.
type Client struct {
	ipv6Bits  int
	trusted   []netip.Prefix
	trustUnix bool // a peer without an address is trusted

	header string            // that is believed from trusted peers
	single bool              // the header is one address, not a list
	node   func(string) node // reads one element of the list
}

// NewClient makes a Client by the options of [IP]. It panics on misuse.
func NewClient(options ...IPOption) *Client {
	c := &Client{ipv6Bits: 64}
	for _, option := range options {
		if option == nil {
			panic("ratelimit: keyfuncs.IP: a nil option: leave it out")
		}
		option(c)
	}
	trusting := c.trustUnix || len(c.trusted) > 0
	if c.header != "" && !trusting {
		panic("ratelimit: keyfuncs.IP: header " + c.header + " without TrustProxies: name the networks of the proxies that set it")
	}
	if c.header == "" && trusting {
		c.header, c.node = "X-Forwarded-For", parseNode
	}
	return c
}

// Key is the key of [IP].
func (c *Client) Key(r core.Request) (string, error) {
	if _, known := r.(addressed); c.header == "" && !known { // the peer as it stands, most of the time
		peer := r.Peer()
		if _, length := parseDotted(peer); length > 0 {
			return peer[:length], nil
		}
	}
	found := c.find(r)
	switch {
	case !found.addr.IsValid():
		return NoAddress, nil
	case found.addr.Is6():
		return c.group(found.addr), nil
	case found.dotted:
		return found.text, nil // as it stands: an allocation less
	}
	return found.addr.String(), nil
}

// Addr is the client's address, whole, without a zone, IPv4 never as IPv6. The
// zero Addr, which is not valid, means that the client has none (a unix socket).
func (c *Client) Addr(r core.Request) netip.Addr { return c.find(r).addr }

func (c *Client) group(addr netip.Addr) string {
	network, _ := addr.Prefix(c.ipv6Bits) // the bits were checked at start-up
	var text [len("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128")]byte
	return string(network.AppendTo(text[:0]))
}

// find is the client: the peer, or what trusted proxies say it is.
func (c *Client) find(r core.Request) node {
	peer := peerOf(r)
	if c.header == "" || !c.trustsPeer(peer) {
		return peer
	}
	lines := r.Header(c.header)
	if c.single {
		return only(lines, peer)
	}
	return c.walk(lines, peer)
}

// addressed is a request of a server that knows its peer's address as such: it need
// not become a text in order to be read.
type addressed interface{ PeerAddr() netip.Addr }

func peerOf(r core.Request) node {
	known, ok := r.(addressed)
	if !ok {
		return parseNode(r.Peer())
	}
	addr := known.PeerAddr().Unmap().WithZone("")
	if addr.IsUnspecified() {
		return node{}
	}
	return node{addr: addr}
}

func (c *Client) trustsPeer(peer node) bool {
	if !peer.addr.IsValid() {
		return c.trustUnix
	}
	return c.trusts(peer.addr)
}

func (c *Client) trusts(addr netip.Addr) bool {
	for _, network := range c.trusted {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}
