package clienttest

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// visit is one request as the server saw it.
type visit struct {
	at         time.Time
	status     int
	retryAfter string
}

// server serves a handler on loopback and remembers its visits.
type server struct {
	URL    string
	mu     sync.Mutex
	visits []visit // protected by mu
}

func serve(t *testing.T, next http.Handler) *server {
	s := &server{}
	record := func(w http.ResponseWriter, r *http.Request) {
		came := time.Now()
		seen := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(seen, r)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.visits = append(s.visits, visit{came, seen.status, w.Header().Get("Retry-After")})
	}
	listening := httptest.NewServer(http.HandlerFunc(record))
	t.Cleanup(listening.Close)
	s.URL = listening.URL
	return s
}

func (s *server) seen() []visit {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]visit(nil), s.visits...)
}

type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

var ok = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
