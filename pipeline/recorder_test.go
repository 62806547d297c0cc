package pipeline

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// The writers below a recorder, by what they can do.
type (
	plain    struct{ http.ResponseWriter }
	flushing struct {
		plain
		http.Flusher
	}
	hijacking struct {
		plain
		hijackable
	}
	both struct {
		plain
		http.Flusher
		hijackable
	}
	wrapping   struct{ plain }
	hijackable struct{ err error }
)

func (h hijackable) Hijack() (net.Conn, *bufio.ReadWriter, error) { return nil, nil, h.err }
func (w wrapping) Unwrap() http.ResponseWriter {
	return both{w.plain, httptest.NewRecorder(), hijackable{}}
}

// The writer that is handed on can do what the one below can, and no more.
func TestRecorderInterfaces(t *testing.T) {
	below := httptest.NewRecorder()
	for _, c := range []struct {
		name             string
		w                http.ResponseWriter
		flushes, hijacks bool
	}{
		{"nothing", plain{below}, false, false},
		{"flush", flushing{plain{below}, below}, true, false},
		{"hijack", hijacking{plain{below}, hijackable{}}, false, true},
		{"both", both{plain{below}, below, hijackable{}}, true, true},
		{"both, wrapped", wrapping{plain{below}}, true, true},
	} {
		recorder, w := NewRecorder(c.w)
		flusher, flushes := w.(http.Flusher)
		hijacker, hijacks := w.(http.Hijacker)
		if flushes != c.flushes || hijacks != c.hijacks {
			t.Errorf("%s: flushes %v, hijacks %v", c.name, flushes, hijacks)
		}
		if flushes {
			if flusher.Flush(); recorder.Status() != 200 || !recorder.Written() {
				t.Errorf("%s: status %d after a flush", c.name, recorder.Status())
			}
		}
		if hijacks {
			if _, _, err := hijacker.Hijack(); err != nil || recorder.Status() != 0 || !recorder.Written() {
				t.Errorf("%s: %v, status %d after a hijack", c.name, err, recorder.Status())
			}
		}
	}
}

func TestRecorderStatus(t *testing.T) {
	for _, c := range []struct {
		name    string
		write   func(http.ResponseWriter)
		status  int
		written bool
	}{
		{"nothing", func(http.ResponseWriter) {}, 200, false},
		{"a body", func(w http.ResponseWriter) { _, _ = w.Write(nil) }, 200, true},
		{"a copy", func(w http.ResponseWriter) { _, _ = w.(io.ReaderFrom).ReadFrom(http.NoBody) }, 200, true},
		{"a status", func(w http.ResponseWriter) { w.WriteHeader(404) }, 404, true},
		{"early hints", func(w http.ResponseWriter) { w.WriteHeader(103) }, 200, false},
		{"early hints first", func(w http.ResponseWriter) { w.WriteHeader(103); w.WriteHeader(500) }, 500, true},
		{"the first of two", func(w http.ResponseWriter) { w.WriteHeader(201); w.WriteHeader(500) }, 201, true},
		{"a hijack that fails", func(w http.ResponseWriter) { _, _, _ = w.(http.Hijacker).Hijack() }, 200, false},
	} {
		recorder, w := NewRecorder(hijacking{plain{httptest.NewRecorder()}, hijackable{errors.New("no")}})
		c.write(w)
		if recorder.Status() != c.status || recorder.Written() != c.written {
			t.Errorf("%s: status %d, written %v", c.name, recorder.Status(), recorder.Written())
		}
	}
}
