// Package hostile is one table of requests whose client is hard to tell, for the
// tests of keyfuncs and, over real HTTP, of every adapter.
package hostile

import (
	_ "embed"
	"encoding/json"

	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

// LoopbackPeer is the peer of a case that any server on loopback can run.
const LoopbackPeer = "127.0.0.1:51234"

//go:embed clients.json
var clients []byte

// Case is one request and the key by which keyfuncs.IP counts it.
type Case struct {
	Name string
	// Peer is the connection's other end; LoopbackPeer where the file gives none.
	Peer string
	// Trust is for keyfuncs.TrustProxies; empty: nobody is trusted.
	Trust []string
	// Source is the header that is believed: "" (X-Forwarded-For), "Forwarded" or
	// the name for keyfuncs.SingleHeader.
	Source string
	// IPv6Bits is for keyfuncs.IPv6Prefix; 0: the default.
	IPv6Bits int `json:"ipv6_bits"`
	// Lines are header lines as {name, value}, in the order they are sent.
	Lines [][2]string
	// Want is the key.
	Want string
}

// Clients are the cases. It panics where the file cannot be read or is empty.
func Clients() []Case {
	var cases []Case
	if err := json.Unmarshal(clients, &cases); err != nil || len(cases) == 0 {
		panic("ratelimit: internal/hostile/clients.json has no cases")
	}
	for i := range cases {
		if cases[i].Peer == "" {
			cases[i].Peer = LoopbackPeer
		}
	}
	return cases
}

// Options are what keyfuncs.IP is given in the case.
func (c Case) Options() []keyfuncs.IPOption {
	var options []keyfuncs.IPOption
	if len(c.Trust) > 0 {
		options = append(options, keyfuncs.TrustProxies(c.Trust...))
	}
	if c.Source == "Forwarded" {
		options = append(options, keyfuncs.ForwardedHeader())
	} else if c.Source != "" {
		options = append(options, keyfuncs.SingleHeader(c.Source))
	}
	if c.IPv6Bits != 0 {
		options = append(options, keyfuncs.IPv6Prefix(c.IPv6Bits))
	}
	return options
}
