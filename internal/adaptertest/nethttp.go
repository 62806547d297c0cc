package adaptertest

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// What the drivers of frameworks that stand on net/http have in common.

// Listen serves a handler on loopback, as the app asks, until the test ends.
func Listen(t *testing.T, app App, handler http.Handler) (url string) {
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // panics are part of the tests
	t.Cleanup(server.Close)
	if !app.HTTP2 {
		server.Start()
		return server.URL
	}
	server.EnableHTTP2 = true
	server.StartTLS()
	return server.URL
}

// Recovered answers a panic with 500, whatever it is.
func Recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if recover() != nil {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// Pattern is "/users/:id" for "/users/{id}".
func Pattern(path string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(path)
}

// Stream is what [Call] asks.
func Stream(w http.ResponseWriter, events <-chan string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for event := range events {
		_, _ = io.WriteString(w, event)
		_ = http.NewResponseController(w).Flush()
	}
}

// SwitchingProtocols is the answer to an upgrade.
const SwitchingProtocols = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"

// Upgrade is what [Call] asks.
func Upgrade(w http.ResponseWriter, serve func(net.Conn)) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = io.WriteString(conn, SwitchingProtocols)
	serve(conn)
}
