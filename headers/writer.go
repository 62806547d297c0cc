package headers

import (
	"sync"
	"time"
)

// maxInteger is the largest integer of a structured field (RFC 9651 section 3.3.1).
const maxInteger = 999_999_999_999_999

// writer writes what was decided into one text, of which the fields' values are
// parts: one allocation for all. What the policies alone decide is not in the text.
// It is used again and again.
type writer struct {
	items   []item
	binding *item // one of items
	now     time.Time
	text    []byte
	parts   []part

	// The numbers of the binding policy, where a dialect has written them already:
	// others show the same.
	remaining, reset span
}

var writers = sync.Pool{New: func() any { return new(writer) }}

// part is a field whose value is known or else a span of the text.
type part struct {
	Field
	span
}

// span is a half-open range of the text. Empty: not written.
type span struct{ from, to int }

func (s span) empty() bool { return s.from == s.to }

func (w *writer) begin(now time.Time) {
	w.binding, w.now = &w.items[tightest(w.items)], now
	w.text, w.parts = w.text[:0], w.parts[:0]
	w.remaining, w.reset = span{}, span{}
}

// field adds a field whose value is a part of the text.
func (w *writer) field(name string, value span) {
	w.parts = append(w.parts, part{Field{Name: name}, value})
}

// constant adds a field whose value is known.
func (w *writer) constant(name, value string) {
	w.parts = append(w.parts, part{Field: Field{name, value}})
}

func (w *writer) appendFields(dst []Field) []Field {
	text := string(w.text)
	for i := range w.parts {
		p := &w.parts[i]
		if !p.empty() {
			p.Value = text[p.from:p.to]
		}
		dst = append(dst, p.Field)
	}
	return dst
}

// integer writes n.
func (w *writer) integer(n int64) span {
	from := len(w.text)
	w.text = appendInteger(w.text, n)
	return span{from, len(w.text)}
}

// number is integer behind a literal text, as in ";r=99".
func (w *writer) number(literal string, n int64) span {
	w.text = append(w.text, literal...)
	return w.integer(n)
}

// list adds a field with one text of each policy; one that has none is left out.
func (w *writer) list(name string, of func(*texts) string) {
	if len(w.items) == 1 {
		if only := of(w.items[0].texts); only != "" {
			w.constant(name, only)
		}
		return
	}
	from := len(w.text)
	for i := range w.items {
		if next := of(w.items[i].texts); next != "" {
			w.separate(from)
			w.text = append(w.text, next...)
		}
	}
	if len(w.text) > from {
		w.field(name, span{from, len(w.text)})
	}
}

// separate starts the next member of a list that began at from.
func (w *writer) separate(from int) {
	if len(w.text) > from {
		w.text = append(w.text, ", "...)
	}
}

// appendQuoted is a text in quotes, by the rules of structured fields (RFC 9651
// section 4.1.6) and JSON at once: printable ASCII, quotes and backslashes escaped.
// Policy names hold nothing else; if one did, it would become a question mark.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < 0x20 || c > 0x7e:
			dst = append(dst, '?')
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
