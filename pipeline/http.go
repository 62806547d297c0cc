package pipeline

import (
	"context"
	"io"
	"net/http"
	"net/url"
)

// HTTP answers a key's questions, all but Route and Native, from an
// [http.Request]. The adapters of frameworks that stand on net/http embed it in
// their [Exchange].
type HTTP struct {
	// Request is the request as it is now: SetContext replaces it.
	Request *http.Request

	query, form url.Values // read at the first question
}

// Context is the request's own context.
func (h *HTTP) Context() context.Context { return h.Request.Context() }

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

// SetHTTPField does what [Exchange].SetField asks, to a header of net/http.
func (v *Visit) SetHTTPField(header http.Header, name, value string) {
	if value == "" {
		delete(header, name)
		return
	}
	if v.taken == len(v.lines) {
		header[name] = []string{value}
		return
	}
	lines := v.lines[v.taken : v.taken+1 : v.taken+1]
	v.taken++
	lines[0] = value
	header[name] = lines
}

// AnswerHTTP writes a default answer.
func AnswerHTTP(w http.ResponseWriter, status int, body string) {
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // a client that has left misses it
}
