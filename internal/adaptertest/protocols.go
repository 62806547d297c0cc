package adaptertest

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
)

// Answers that are more than a status and a body work behind the middleware,
// watched or not.
var protocols = []testCase{
	{name: "server-sent events come while the handler runs, after the fields", run: serverSentEvents},
	{name: "an upgrade to another protocol", run: upgrade},
	{name: "HTTP/2", run: http2, writer: true},
	{name: "server-sent events over HTTP/2", run: events2, writer: true},
}

// streaming is an app that sends events, the first of which waits already.
func streaming(outcomes core.Outcomes) (a App, events chan string) {
	events = make(chan string, 1)
	events <- "data: 1\n\n"
	return writerApp(outcomes, func(c Call) {
		if c.Query("peek") == "" {
			c.Stream(events)
		}
	}), events
}

func serverSentEvents(t *testing.T, d Driver) {
	for _, outcomes := range watching {
		a, events := streaming(outcomes)
		url := d.Serve(t, a)
		readEvents(t, http.DefaultTransport, url, events)
		if n, want := left(t, url), map[core.Outcomes]string{core.CountAll: "9", core.CountFailures: "10", core.CountSuccesses: "9"}[outcomes]; n != want {
			t.Errorf("counting %d: %s left, want %s", outcomes, n, want)
		}
	}
}

// readEvents reads each event before the next is sent.
func readEvents(t *testing.T, transport http.RoundTripper, url string, events chan string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, "GET", url+"/?n=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if kind, n := response.Header.Get("Content-Type"), response.Header.Get("RateLimit-Remaining"); kind != "text/event-stream" || n != "9" {
		t.Errorf("events have Content-Type %q and %q left", kind, n)
	}
	reader := bufio.NewReader(response.Body)
	for i := range 3 {
		if i > 0 {
			events <- fmt.Sprintf("data: %d\n\n", i+1)
		}
		line, err := reader.ReadString('\n')
		if want := fmt.Sprintf("data: %d\n", i+1); line != want || err != nil {
			t.Fatalf("read %q, %v, want %q", line, err, want)
		}
		_, _ = reader.ReadString('\n')
	}
	close(events)
	if rest, err := io.ReadAll(reader); len(rest) > 0 || err != nil {
		t.Errorf("at the end %q, %v", rest, err)
	}
}

// upgrade speaks an echo protocol over the connection that was handed over.
func upgrade(t *testing.T, d Driver) {
	for _, outcomes := range watching {
		url := d.Serve(t, writerApp(outcomes, func(c Call) {
			if c.Query("peek") == "" {
				c.Upgrade(func(conn net.Conn) {
					defer conn.Close()
					_, _ = io.Copy(conn, conn)
				})
			}
		}))
		const ask = "GET /?n=%d HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"
		conn, reader := dial(t, url)
		fmt.Fprintf(conn, ask, 9)
		response, err := http.ReadResponse(reader, nil)
		if err != nil || response.StatusCode != 101 || response.Header.Get("Upgrade") != "echo" {
			t.Fatalf("answer %v, %v", response, err)
		}
		for _, line := range []string{"ping\n", "pong\n"} {
			_, _ = io.WriteString(conn, line)
			if got, err := reader.ReadString('\n'); got != line {
				t.Fatalf("%q comes back as %q, %v", line, got, err)
			}
		}
		_ = conn.Close()
		if n := left(t, url); n != "1" {
			t.Errorf("counting %d: %s left, want 1: an unknown outcome refunds nothing", outcomes, n)
		}
		wantStatus(t, raw(t, url, "GET", "/?n=9", "", "Host: h", "Upgrade: echo"), 429)
	}
}

// client2 speaks HTTP/2.
func client2(t *testing.T) *http.Transport {
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true} //nolint:gosec // the test's own server
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

func http2(t *testing.T, d Driver) {
	for _, outcomes := range []core.Outcomes{core.CountAll, core.CountSuccesses} {
		a := app(fixed(), core.PerMinute(1).FixedWindow().Counting(outcomes))
		a.HTTP2 = true
		url, transport := d.Serve(t, a), client2(t)
		for _, want := range []int{200, 429, 429} {
			request, err := http.NewRequest("GET", url, nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := transport.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			response.Body.Close()
			if response.StatusCode != want || response.ProtoMajor != 2 || err != nil || len(body) == 0 {
				t.Errorf("%s %d, body %q, %v, want HTTP/2 %d", response.Proto, response.StatusCode, body, err, want)
			}
			got := answer{response.StatusCode, response.Header, string(body)}
			got.wantField(t, "RateLimit-Remaining", "0")
			for _, name := range []string{"Connection", "Keep-Alive", "Transfer-Encoding", "Upgrade"} { // RFC 9113 section 8.2.2
				got.wantField(t, name, "")
			}
		}
	}
}

func events2(t *testing.T, d Driver) {
	for _, outcomes := range watching {
		a, events := streaming(outcomes)
		a.HTTP2 = true
		readEvents(t, client2(t), d.Serve(t, a), events)
	}
}
