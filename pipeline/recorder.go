package pipeline

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

// Recorder remembers the outcome of what is written through it. It is put around
// a response writer only where an outcome is needed.
type Recorder struct {
	http.ResponseWriter
	status   int // 0: nothing written yet
	hijacked bool
}

// NewRecorder puts a recorder around a response writer. The writer to hand on
// implements those of http.Flusher, http.Hijacker and http.CloseNotifier that w
// does, io.ReaderFrom, and Unwrap for [http.ResponseController].
func NewRecorder(w http.ResponseWriter) (*Recorder, http.ResponseWriter) {
	r := &Recorder{ResponseWriter: w}
	f, h := flusher{r}, hijacker{r}
	//lint:ignore SA1019 old handlers ask for it
	n, notifies := w.(http.CloseNotifier)
	flushes, hijacks := can[http.Flusher](w), can[http.Hijacker](w)
	switch {
	case flushes && hijacks && notifies:
		return r, struct {
			*Recorder
			flusher
			hijacker
			http.CloseNotifier
		}{r, f, h, n}
	case flushes && notifies:
		return r, struct {
			*Recorder
			flusher
			http.CloseNotifier
		}{r, f, n}
	case flushes && hijacks:
		return r, struct {
			*Recorder
			flusher
			hijacker
		}{r, f, h}
	case flushes:
		return r, struct {
			*Recorder
			flusher
		}{r, f}
	case hijacks:
		return r, struct {
			*Recorder
			hijacker
		}{r, h}
	}
	return r, r
}

// Status is the status of the answer: 200 where the handler wrote none, 0 where
// it took the connection over and the outcome is unknown.
func (r *Recorder) Status() int {
	switch {
	case r.hijacked:
		return 0
	case r.status == 0:
		return http.StatusOK
	}
	return r.status
}

// Written reports whether an answer was begun or the connection taken over.
func (r *Recorder) Written() bool { return r.status != 0 || r.hijacked }

// WriteHeader remembers the first status that is final.
func (r *Recorder) WriteHeader(status int) {
	if r.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write begins the answer where WriteHeader has not.
func (r *Recorder) Write(p []byte) (int, error) {
	r.begin()
	return r.ResponseWriter.Write(p)
}

// ReadFrom is Write for [io.Copy], which lets the writer below send a file
// without copying it.
func (r *Recorder) ReadFrom(src io.Reader) (int64, error) {
	r.begin()
	return io.Copy(r.ResponseWriter, src)
}

// Unwrap is for [http.ResponseController].
func (r *Recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *Recorder) begin() {
	if r.status == 0 {
		r.status = http.StatusOK
	}
}

type flusher struct{ r *Recorder }

func (f flusher) Flush() { _ = f.FlushError() }

func (f flusher) FlushError() error {
	f.r.begin()
	return http.NewResponseController(f.r.ResponseWriter).Flush()
}

type hijacker struct{ r *Recorder }

func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(h.r.ResponseWriter).Hijack()
	h.r.hijacked = h.r.hijacked || err == nil
	return conn, buffered, err
}

// can reports whether a writer, or one that it wraps, implements T.
func can[T any](w http.ResponseWriter) bool {
	for {
		if _, ok := w.(T); ok {
			return true
		}
		wrapper, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return false
		}
		w = wrapper.Unwrap()
	}
}
