package keyfuncs

import (
	"errors"
	"net/netip"
	"strings"
)

var errNoNetwork = errors.New("no network")

// What a list of hops may cost, whatever is sent. Past either the walk ends at
// the last proxy reached, as at an element that is no address.
const (
	maxElements = 64  // hops, empty elements among them
	maxElement  = 512 // bytes of one element
)

// walk goes from the peer to the left over all lines, as long as the hops are
// trusted.
func (c *Client) walk(lines []string, hop node) node {
	walked := 0
	for i := len(lines) - 1; i >= 0; i-- {
		for left := lines[i]; left != ""; {
			element, rest, ok := lastElement(left)
			if walked++; !ok || walked > maxElements {
				return hop
			}
			left = rest
			if element == "" {
				continue
			}
			next := c.node(element)
			if !next.addr.IsValid() {
				return hop
			}
			if hop = next; !c.trusts(hop.addr) {
				return hop
			}
		}
	}
	return hop
}

// only is the address that is the header's single line, else the peer.
func only(lines []string, peer node) node {
	if len(lines) != 1 || len(lines[0]) > maxElement {
		return peer
	}
	if found := parseNode(trim(lines[0])); found.addr.IsValid() {
		return found
	}
	return peer
}

// lastElement cuts the last element off a list. Commas in quotes do not divide.
// It reads from the right, so that nothing a client wrote to the left, such as a
// quote that is never closed, changes how the elements that proxies appended are
// read. It is not ok where the element is too long or has a backslash: no address
// needs one, and an escaped quote would look like the end of a quoted text.
func lastElement(list string) (element, rest string, ok bool) {
	quoted := false
	for i := len(list) - 1; i >= 0; i-- {
		switch c := list[i]; {
		case c == '\\' || len(list)-i > maxElement:
			return "", "", false
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			return trim(list[i+1:]), list[:i], true
		}
	}
	return trim(list), "", true
}

// forwardedFor reads the "for" node of an element of Forwarded (RFC 7239 section
// 4), such as for="[2001:db8::1]:4711";proto=https. No node or two are no address.
func forwardedFor(element string) node {
	var found node
	seen := false
	for element != "" {
		var pair string
		pair, element = cutPair(element)
		name, value, _ := strings.Cut(pair, "=")
		if !strings.EqualFold(trim(name), "for") {
			continue
		}
		if seen {
			return node{}
		}
		found, seen = parseNode(unquote(trim(value))), true
	}
	return found
}

// cutPair divides at the first semicolon that is not in quotes.
func cutPair(element string) (pair, rest string) {
	quoted := false
	for i := range len(element) {
		switch {
		case element[i] == '"':
			quoted = !quoted
		case element[i] == ';' && !quoted:
			return element[:i], element[i+1:]
		}
	}
	return element, ""
}

func unquote(value string) string {
	if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
		return value[1 : len(value)-1]
	}
	return value
}

func trim(s string) string { return strings.Trim(s, " \t") }

// node is an address as it stood in a text.
type node struct {
	addr   netip.Addr // not valid: no address
	text   string     // without port, brackets and zone
	dotted bool       // text is IPv4 in its one canonical form
}

// parseNode reads 192.0.2.1, 192.0.2.1:80, 2001:db8::1, [2001:db8::1] and
// [2001:db8::1]:80, with or without a zone. The unspecified addresses are none.
func parseNode(text string) node {
	if octets, length := parseDotted(text); length > 0 {
		return node{netip.AddrFrom4(octets), text[:length], true}
	}
	return parseAny(text)
}

// parseAny is parseNode for all forms.
func parseAny(text string) node {
	host, ok := cutPort(text)
	if !ok || host == "" {
		return node{}
	}
	dotted := strings.IndexByte(host, ':') < 0
	if !dotted {
		host, _, _ = strings.Cut(host, "%")
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return node{}
	}
	if addr = addr.Unmap(); addr.IsUnspecified() {
		return node{}
	}
	return node{addr: addr, text: host, dotted: dotted}
}

// parseDotted reads what most peers are, IPv4 in its one canonical form with a port
// of digits, in one pass: the address, and the length of its text. 0: it is not so.
func parseDotted(text string) (octets [4]byte, length int) {
	at, n, digits := 0, 0, 0
	for i := range len(text) {
		c := text[i]
		switch {
		case isDigit(c) && (digits == 0 || n > 0):
			n = n*10 + int(c-'0')
			digits++
			continue
		case digits == 0 || digits > 3 || n > 255:
			return octets, 0
		}
		octets[at] = byte(n)
		switch {
		case c == '.' && at < 3:
			at, n, digits = at+1, 0, 0
		case c == ':' && at == 3 && octets != [4]byte{} && areDigits(text[i+1:]):
			return octets, i
		default:
			return octets, 0
		}
	}
	return octets, 0
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func areDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// cutPort drops a port and brackets.
func cutPort(text string) (host string, ok bool) {
	if strings.HasPrefix(text, "[") {
		host, port, closed := strings.Cut(text[1:], "]")
		return host, closed && strings.IndexByte(host, ':') >= 0 && (port == "" || isPort(port))
	}
	colon := strings.IndexByte(text, ':')
	if colon < 0 || strings.IndexByte(text[colon+1:], ':') >= 0 {
		return text, true // a name without a port, or IPv6 without brackets
	}
	return text[:colon], isPort(text[colon:])
}

// isPort reports whether s is a colon and a port: digits or, in Forwarded, an
// obfuscated one such as _a1.
func isPort(s string) bool {
	for i := 1; i < len(s); i++ {
		c := s[i]
		if (c < '0' || c > '9') && s[1] != '_' {
			return false
		}
	}
	return len(s) > 1 && s[0] == ':'
}
