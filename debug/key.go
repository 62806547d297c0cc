package debug

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

// errNoClient is an error of a hash that is none of the most refused clients'.
var errNoClient = errors.New("client: none of the most refused clients has this hash: give its key")

// mostListed are the clients among which a hash is looked for: all that are kept.
const mostListed = 1 << 20

// keyOf is whom a request to the handler is about, "" for nobody.
func (h *Handler) keyOf(e *entry, form url.Values) (string, error) {
	if hash := form.Get("client"); hash != "" {
		for _, c := range h.Heaviest(mostListed) {
			if c.Hash == hash && c.Policy == e.policy.Name && c.Key != "" {
				return c.Key, nil
			}
		}
		return "", errNoClient
	}
	var parts []core.Key
	for _, text := range form["key"] {
		if text == "" {
			continue
		}
		part, err := keyAs(form.Get("as"), text)
		if err != nil {
			return "", err
		}
		parts = append(parts, func(core.Request) (string, error) { return part, nil })
	}
	if len(parts) == 0 {
		return "", nil
	}
	return core.Join(parts...)(nil)
}

// keyAs is the key that the path of a request makes of a text.
func keyAs(as, text string) (string, error) {
	switch as {
	case "", "key":
		return text, nil
	case "secret":
		return keyfuncs.Header("X")(said{header: text})
	case "ip", "peer":
		if net.ParseIP(text) == nil {
			return "", fmt.Errorf("key %.64q: as=%s takes an address, such as 192.0.2.1", text, as)
		}
		key, err := keyfuncs.IP()(said{peer: net.JoinHostPort(text, "1")})
		if as == "peer" {
			key = "\x00ip:" + key
		}
		return key, err
	}
	return "", fmt.Errorf("as %.64q: give key, ip, secret or peer", as)
}

// said is a request of which a peer and a header are known.
type said struct{ peer, header string }

func (s said) Context() context.Context { return context.Background() }
func (s said) Method() string           { return "" }
func (s said) Host() string             { return "" }
func (s said) Route() (string, error)   { return "", nil }
func (s said) Peer() string             { return s.peer }
func (s said) Header(string) []string   { return []string{s.header} }
func (s said) Query(string) string      { return "" }
func (s said) Form(string) string       { return "" }
func (s said) Native() any              { return nil }
