package clienttest

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	fiberlimit "github.com/ratelimit-go/ratelimit/fiber"
	ratelimit "github.com/ratelimit-go/ratelimit/nethttp"
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

// framework serves a scene until the test ends.
type framework = func(*testing.T, scene) *server

func onNetHTTP(t *testing.T, scene scene) *server {
	limits := ratelimit.With(ratelimit.Options{Store: scene.given(), Logger: slog.New(slog.DiscardHandler)})
	return serve(t, limits.New(scene.policies...)(ok))
}

func serve(t *testing.T, next http.Handler) *server {
	s := &server{}
	record := func(w http.ResponseWriter, r *http.Request) {
		came := time.Now()
		seen := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(seen, r)
		s.note(came, seen.status, w.Header().Get("Retry-After"))
	}
	listening := httptest.NewServer(http.HandlerFunc(record))
	t.Cleanup(listening.Close)
	s.URL = listening.URL
	return s
}

func onFiber(t *testing.T, scene scene) *server {
	limits := fiberlimit.With(fiberlimit.Options{Store: scene.given(), Logger: slog.New(slog.DiscardHandler)})
	s := &server{}
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Use(func(c *fiber.Ctx) error {
		came := time.Now()
		err := c.Next()
		s.note(came, c.Response().StatusCode(), string(c.Response().Header.Peek("Retry-After")))
		return err
	}, limits.New(scene.policies...))
	app.Get("/", func(c *fiber.Ctx) error { return c.SendString("ok\n") })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = app.Listener(listener) }()
	t.Cleanup(func() { _ = app.ShutdownWithTimeout(time.Second) })
	s.URL = "http://" + listener.Addr().String()
	return s
}

func (s *server) note(came time.Time, status int, retryAfter string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visits = append(s.visits, visit{came, status, retryAfter})
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
