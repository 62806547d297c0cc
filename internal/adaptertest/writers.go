package adaptertest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// What handlers ask of a writer works behind the middleware, watched or not.
var writers = []testCase{
	{name: "flush", run: flush, writer: true},
	{name: "hijack", run: hijack, writer: true},
	{name: "response controller", run: controller, writer: true},
	{name: "close notifier", run: closeNotifier, writer: true},
	{name: "files", run: files, writer: true},
}

// watching are policies that need no outcome, and those that do.
var watching = []core.Outcomes{core.CountAll, core.CountFailures, core.CountSuccesses}

func writerApp(outcomes core.Outcomes, handler func(Call)) App {
	cost := func(r core.Request) (int64, error) { return strconv.ParseInt(r.Query("n"), 10, 64) }
	p := core.PerMinute(10).Counting(outcomes).Costing(cost)
	return App{Options: fixed(), Routes: []Route{{"GET", "/", []Policies{{p}}, handler}}}
}

func left(t *testing.T, url string) string {
	t.Helper()
	return send(t, "GET", url+"/?n=0&peek=1").header.Get("RateLimit-Remaining")
}

func flush(t *testing.T, d Driver) {
	for _, outcomes := range watching {
		release := make(chan struct{})
		url := d.Serve(t, writerApp(outcomes, func(c Call) {
			if c.Query("peek") != "" {
				return
			}
			flusher, ok := c.Writer().(http.Flusher)
			if !ok {
				t.Error("the writer is no Flusher")
				return
			}
			_, _ = io.WriteString(c.Writer(), "first\n")
			flusher.Flush()
			<-release
		}))
		response, err := http.Get(url + "/?n=1")
		if err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(response.Body).ReadString('\n') // while the handler still runs
		if line != "first\n" {
			t.Errorf("read %q, %v", line, err)
		}
		close(release)
		response.Body.Close()
	}
}

func hijack(t *testing.T, d Driver) {
	for _, outcomes := range watching {
		url := d.Serve(t, writerApp(outcomes, func(c Call) {
			if c.Query("peek") != "" {
				return
			}
			hijacker, ok := c.Writer().(http.Hijacker)
			if !ok {
				t.Error("the writer is no Hijacker")
				return
			}
			conn, buffered, err := hijacker.Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = buffered.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nmine")
			_ = buffered.Flush()
			_ = conn.Close()
		}))
		if got := send(t, "GET", url+"/?n=1"); got.body != "mine" {
			t.Errorf("body %q", got.body)
		}
		if n := left(t, url); n != "9" {
			t.Errorf("counting %d: %s left, want 9: an unknown outcome refunds nothing", outcomes, n)
		}
	}
}

func controller(t *testing.T, d Driver) {
	for _, outcomes := range watching {
		url := d.Serve(t, writerApp(outcomes, func(c Call) {
			if c.Query("peek") != "" {
				return
			}
			control := http.NewResponseController(c.Writer())
			if err := control.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Error(err)
			}
			if err := control.Flush(); err != nil {
				t.Error(err)
			}
			conn, _, err := control.Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_ = conn.Close()
		}))
		response, err := http.Get(url + "/?n=1")
		if err == nil {
			response.Body.Close()
		}
		if n := left(t, url); n != "9" {
			t.Errorf("counting %d: %s left, want 9: an unknown outcome refunds nothing", outcomes, n)
		}
	}
}

func closeNotifier(t *testing.T, d Driver) {
	for _, outcomes := range watching {
		url := d.Serve(t, writerApp(outcomes, func(c Call) {
			//lint:ignore SA1019 old handlers ask for it
			if _, ok := c.Writer().(http.CloseNotifier); !ok {
				t.Error("the writer is no CloseNotifier")
			}
		}))
		get(t, url+"/?n=1", 200)
	}
}

func files(t *testing.T, d Driver) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte(strings.Repeat("x", 100_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, outcomes := range watching {
		url := d.Serve(t, writerApp(outcomes, func(c Call) {
			file, err := os.Open(path)
			if err != nil {
				t.Error(err)
				return
			}
			defer file.Close()
			if n, err := io.Copy(c.Writer(), file); n != 100_000 || err != nil {
				t.Errorf("copied %d, %v", n, err)
			}
		}))
		if got := send(t, "GET", url+"/?n=1"); len(got.body) != 100_000 {
			t.Errorf("%d bytes", len(got.body))
		}
	}
}

// leave makes a request and leaves once the server is at work on it.
func leave(t *testing.T, url string, entered <-chan struct{}) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-entered
		cancel()
	}()
	request, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if response, err := http.DefaultTransport.RoundTrip(request); !errors.Is(err, context.Canceled) {
		t.Errorf("answer %v, %v: the request should have been left", response, err)
	}
}
