package adaptertest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// answer is what a client got.
type answer struct {
	status int
	header http.Header
	body   string
}

// send makes a request; pairs are header fields.
func send(t *testing.T, method, url string, pairs ...string) answer {
	t.Helper()
	return sendBody(t, method, url, "", pairs...)
}

func sendBody(t *testing.T, method, url, body string, pairs ...string) answer {
	t.Helper()
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(pairs); i += 2 {
		request.Header.Add(pairs[i], pairs[i+1])
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(text)}
}

// patience is longer than any answer takes.
const patience = 20 * time.Second

// dial opens a connection that ends with the test.
func dial(t *testing.T, url string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn, bufio.NewReader(conn)
}

// raw sends the start of a request and header lines as they stand, and gives the
// answer with all that follows its header.
func raw(t *testing.T, url, method, target, body string, lines ...string) answer {
	t.Helper()
	conn, reader := dial(t, url)
	defer conn.Close()
	fmt.Fprintf(conn, "%s %s HTTP/1.1\r\n%s\r\n\r\n%s", method, target, strings.Join(append(lines, "Connection: close"), "\r\n"), body)
	response, err := http.ReadResponse(reader, &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s %q: %v", method, target, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s %q: %v", method, target, err)
	}
	rest, _ := io.ReadAll(reader) // what a body without leave would be
	return answer{response.StatusCode, response.Header, string(text) + string(rest)}
}

// get makes requests and wants their statuses.
func get(t *testing.T, url string, want ...int) (last answer) {
	t.Helper()
	for i, status := range want {
		if last = send(t, http.MethodGet, url); last.status != status {
			t.Fatalf("request %d of %s: status %d, want %d (%s)", i+1, url, last.status, status, last.body)
		}
	}
	return last
}

// wantField wants one line of a header field, or none for "".
func (a answer) wantField(t *testing.T, name, want string) {
	t.Helper()
	lines := a.header.Values(name)
	if want == "" && len(lines) == 0 || len(lines) == 1 && lines[0] == want {
		return
	}
	t.Errorf("%s: got %q, want %q", name, lines, want)
}

func wantStatus(t *testing.T, got answer, want int) {
	t.Helper()
	if got.status != want {
		t.Fatalf("status %d, want %d (%s)", got.status, want, got.body)
	}
}

// clock is a clock that a test moves.
type clock struct{ us atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.us.Store(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro())
	return c
}

func (c *clock) now() time.Time { return time.UnixMicro(c.us.Load()) }

// fixed are options on a clock that stands still at the start of a minute.
func fixed() *Options { return &Options{Now: newClock().now} }

// app is one route, GET /, behind one middleware.
func app(o *Options, policies ...core.Policy) App {
	return App{Options: o, Routes: []Route{{"GET", "/", []Policies{policies}, ok}}}
}

func ok(c Call) { c.Answer(http.StatusOK, "ok") }

// counted is a handler and the number of its calls.
func counted(n *atomic.Int64) func(Call) {
	return func(c Call) {
		n.Add(1)
		ok(c)
	}
}

// logged is a log that a test reads.
type logged struct {
	mu   sync.Mutex // guards text
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
