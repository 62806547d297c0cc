package headers

import (
	"strconv"
	"sync"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// maxInteger is the largest integer of a structured field (RFC 9651 section 3.3.1).
const maxInteger = 999_999_999_999_999

// writer writes all values into one text, of which the fields' values are parts:
// one allocation for all. It is used again and again.
type writer struct {
	items   []item
	binding *item // one of items
	now     time.Time
	buf     []byte // the text
	parts   []part

	// The numbers of the binding policy, where a dialect has written them already:
	// others show the same.
	limit, remaining, reset span
}

var writers = sync.Pool{New: func() any { return new(writer) }}

// part is a field whose value is a span of the text.
type part struct {
	name string
	span
}

// span is a half-open range of the text. Empty: not written.
type span struct{ from, to int }

func (s span) empty() bool { return s.from == s.to }

func (w *writer) begin(now time.Time, results []*core.Result) {
	*w = writer{now: now, items: collect(w.items[:0], results), buf: w.buf[:0], parts: w.parts[:0]}
	if len(w.items) > 0 {
		w.binding = &w.items[tightest(w.items)]
	}
}

func (w *writer) field(name string, value span) {
	w.parts = append(w.parts, part{name, value})
}

func (w *writer) appendFields(dst []Field) []Field {
	text := string(w.buf)
	for _, p := range w.parts {
		dst = append(dst, Field{p.name, text[p.from:p.to]})
	}
	return dst
}

// integer writes n, cut to what a structured field can hold.
func (w *writer) integer(n int64) span {
	from := len(w.buf)
	w.buf = strconv.AppendInt(w.buf, min(max(n, 0), maxInteger), 10)
	return span{from, len(w.buf)}
}

// number is integer behind a literal text, as in ";q=100".
func (w *writer) number(literal string, n int64) span {
	w.buf = append(w.buf, literal...)
	return w.integer(n)
}

// quoted writes a String of a structured field (RFC 9651 section 4.1.6).
func (w *writer) quoted(s string) { w.buf = appendQuoted(w.buf, s) }

// appendQuoted is a text in quotes, by the rules of structured fields and JSON at
// once: printable ASCII, quotes and backslashes escaped. Policy names hold nothing
// else; if one did, it would become a question mark.
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

// separate starts the next member of a list that began at from.
func (w *writer) separate(from int) {
	if len(w.buf) > from {
		w.buf = append(w.buf, ", "...)
	}
}

// listed makes the text since from the value of a field, if there is any.
func (w *writer) listed(name string, from int) {
	if len(w.buf) > from {
		w.field(name, span{from, len(w.buf)})
	}
}
