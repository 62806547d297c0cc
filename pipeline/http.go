package pipeline

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"github.com/ratelimit-go/ratelimit/headers"
)

// HTTP is a [Visit] that answers a key's questions, all but Route and Native, from
// an [http.Request]. The adapters of frameworks that stand on net/http embed it in
// their [Exchange].
type HTTP struct {
	Visit
	// Request is the request as it is now: SetContext replaces it.
	Request *http.Request

	kept        *kept
	lines       []string   // room for the values of fields
	query, form url.Values // read at the first question
}

// kept is what a handler may keep when the visit is over, in one allocation.
type kept struct {
	trail   trail
	request http.Request // with the trail in its context
}

// keptLines is kept with room for the values of fields, which the server keeps.
type keptLines struct {
	kept
	lines [usualFields]string
}

// open makes room for what is kept: with fields, for their values as well.
//
//lint:ignore U1000 Exchange has it, in the adapters
func (h *HTTP) open(alone, fields bool) *Visit {
	if alone {
		return h.Visit.open(alone, fields)
	}
	if fields {
		room := new(keptLines)
		h.kept, h.lines = &room.kept, room.lines[:]
	} else {
		h.kept = new(kept)
	}
	h.trail = &h.kept.trail
	return &h.Visit
}

// Context is the request's own context.
func (h *HTTP) Context() context.Context { return h.Request.Context() }

// SetContext makes Request a copy with that context, once in a visit.
func (h *HTTP) SetContext(ctx context.Context) {
	h.kept.request = *h.Request.WithContext(ctx) // its own copy stays on the stack
	h.Request = &h.kept.request
}

// Method is the request's method as it was sent.
func (h *HTTP) Method() string { return h.Request.Method }

// Host is the host that the client named.
func (h *HTTP) Host() string { return h.Request.Host }

// Peer is the address at the other end of the connection, never a header's.
func (h *HTTP) Peer() string { return h.Request.RemoteAddr }

// Header gives all the lines of a header field.
func (h *HTTP) Header(name string) []string { return h.Request.Header.Values(name) }

// Query is the first value of a query parameter.
func (h *HTTP) Query(name string) string {
	if h.query == nil {
		h.query = h.Request.URL.Query()
	}
	return h.query.Get(name)
}

// Form is the first value of a form field in the body, of which no more than the
// first MiB is looked at. The handler finds the body as if it had not been read.
func (h *HTTP) Form(name string) string {
	if h.form == nil {
		h.form = readForm(h.Request)
	}
	return h.form.Get(name)
}

// SetHTTPFields does what [Exchange].SetFields asks, to a header of net/http.
func (h *HTTP) SetHTTPFields(header http.Header, fields []headers.Field) {
	lines := h.lines
	for i := range fields {
		f := &fields[i]
		if f.Value == "" {
			delete(header, f.Name)
			continue
		}
		if len(lines) == 0 {
			lines = make([]string, len(fields)-i)
		}
		lines[0] = f.Value
		header[f.Name] = lines[:1:1]
		lines = lines[1:]
	}
	h.lines = lines
}

// AnswerHTTP writes a default answer.
func AnswerHTTP(w http.ResponseWriter, status int, body string) {
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // a client that has left misses it
}
