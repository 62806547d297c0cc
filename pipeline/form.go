package pipeline

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
)

// mostForm bounds what is read of a body in search of form fields, in bytes.
const mostForm = 1 << 20

// readForm reads the form fields of a request's body and puts the body back. What
// cannot be read, or lies beyond the bound, is not found.
func readForm(r *http.Request) url.Values {
	form := url.Values{}
	if r.PostForm != nil { // outer code has parsed it: the body is gone
		return r.PostForm
	}
	if r.Body == nil || r.Method != http.MethodPost && r.Method != http.MethodPut && r.Method != http.MethodPatch {
		return form
	}
	kind, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return form
	}
	switch kind {
	case "application/x-www-form-urlencoded":
		if body := peekBody(r); len(body) <= mostForm {
			form, _ = url.ParseQuery(string(body)) // what can be read counts
		}
	case "multipart/form-data":
		readParts(form, multipart.NewReader(bytes.NewReader(peekBody(r)), parameters["boundary"]))
	}
	return form
}

// readParts reads the fields that are no files, up to the end or the bound.
func readParts(form url.Values, parts *multipart.Reader) {
	for {
		part, err := parts.NextPart()
		if err != nil {
			return
		}
		if part.FormName() == "" || part.FileName() != "" {
			continue
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return
		}
		form.Add(part.FormName(), string(value))
	}
}

// peekBody reads a body up to one byte more than the bound, and puts it back. An
// error of reading is met again by the handler.
func peekBody(r *http.Request) []byte {
	start, err := io.ReadAll(io.LimitReader(r.Body, mostForm+1))
	rest := io.Reader(r.Body)
	if err != nil {
		rest = failed{err}
	}
	r.Body = &body{io.MultiReader(bytes.NewReader(start), rest), r.Body}
	return start
}

// body is a request's body of which the start has been read.
type body struct {
	io.Reader
	io.Closer
}

type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }
