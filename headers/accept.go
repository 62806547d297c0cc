package headers

import "strings"

// prefersText reports whether the lines of Accept (RFC 9110 section 12.5.1) rank
// text/plain or text/html above every JSON type. JSON is for all others: for who
// accepts anything, or says nothing.
func prefersText(accept []string) bool {
	if len(accept) == 0 {
		return false
	}
	text, json, anything := unranked, unranked, unnamed
	for _, line := range accept {
		for line != "" {
			var element string
			element, line, _ = strings.Cut(line, ",")
			media, params, _ := strings.Cut(element, ";")
			q := quality(params)
			switch media = trim(media); {
			case media == "*/*":
				anything = max(anything, q)
			case strings.EqualFold(media, "text/*"):
				text.group = max(text.group, q)
			case strings.EqualFold(media, "application/*"):
				json.group = max(json.group, q)
			case strings.EqualFold(media, "text/plain"), strings.EqualFold(media, "text/html"):
				text.exact = max(text.exact, q)
			case isJSON(media):
				json.exact = max(json.exact, q)
			}
		}
	}
	return text.quality(anything) > json.quality(anything)
}

// rank is how much a kind of media is wanted, in thousandths, by a range that
// names it and by one that names its group. The narrowest range counts.
type rank struct{ exact, group int }

const unnamed = -1

var unranked = rank{unnamed, unnamed}

func (r rank) quality(anything int) int {
	switch {
	case r.exact != unnamed:
		return r.exact
	case r.group != unnamed:
		return r.group
	}
	return max(anything, 0)
}

func isJSON(media string) bool {
	const suffix = "json"
	at := len(media) - len(suffix)
	return at > 0 && strings.EqualFold(media[at:], suffix) && (media[at-1] == '/' || media[at-1] == '+')
}

// quality is the q among a range's parameters in thousandths: 1000 without one, 0
// for one that is malformed.
func quality(params string) int {
	for params != "" {
		var param string
		param, params, _ = strings.Cut(params, ";")
		name, value, _ := strings.Cut(trim(param), "=")
		if strings.EqualFold(name, "q") {
			return thousandths(value)
		}
	}
	return 1000
}

// thousandths reads "1", "0.5" or "0.125".
func thousandths(q string) int {
	if len(q) == 0 || len(q) > len("0.125") || q[0] != '0' && q[0] != '1' || len(q) > 1 && q[1] != '.' {
		return 0
	}
	n := int(q[0]-'0') * 1000
	for i, weight := 2, 100; i < len(q); i, weight = i+1, weight/10 {
		if q[i] < '0' || q[i] > '9' {
			return 0
		}
		n += int(q[i]-'0') * weight
	}
	return min(n, 1000)
}

func trim(s string) string { return strings.Trim(s, " \t") }
