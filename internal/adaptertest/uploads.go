package adaptertest

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// A large upload is refused before its body is read.
var uploads = []testCase{
	{name: "an upload is refused before its body comes", run: upload},
	{name: "an upload in chunks is refused before its body has come", run: chunkedUpload},
	{name: "an upload that expects 100-continue is refused", run: expectingUpload},
	{name: "an upload that expects 100-continue is never asked for", run: unaskedUpload, writer: true},
}

// uploadApp admits one upload, and has admitted it.
func uploadApp(t *testing.T, d Driver, calls *atomic.Int64) (url string) {
	url = d.Serve(t, App{Options: fixed(), Streams: true, Routes: []Route{{"POST", "/", []Policies{{core.PerMinute(1)}}, counted(calls)}}})
	wantStatus(t, sendBody(t, "POST", url, "x"), 200)
	return url
}

// startUpload sends the header of an upload.
func startUpload(t *testing.T, url string, lines ...string) (rest io.Writer, answers *bufio.Reader) {
	t.Helper()
	conn, reader := dial(t, url)
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: h\r\n%s\r\n\r\n", strings.Join(lines, "\r\n"))
	return conn, reader
}

// wantRefused reads the answer to an upload that did not run the handler again.
func wantRefused(t *testing.T, answers *bufio.Reader, calls *atomic.Int64) {
	t.Helper()
	response, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != 429 || calls.Load() != 1 {
		t.Errorf("status %d after %d calls, want 429 after 1", response.StatusCode, calls.Load())
	}
}

func upload(t *testing.T, d Driver) {
	var calls atomic.Int64
	body, answers := startUpload(t, uploadApp(t, d, &calls), "Content-Length: 1073741824")
	_, _ = io.WriteString(body, strings.Repeat("x", 16<<10))
	wantRefused(t, answers, &calls)
}

// chunkedUpload goes on for as long as the server takes it.
func chunkedUpload(t *testing.T, d Driver) {
	var calls atomic.Int64
	body, answers := startUpload(t, uploadApp(t, d, &calls), "Transfer-Encoding: chunked")
	go func() {
		for range 1 << 14 { // a GiB
			if _, err := fmt.Fprintf(body, "10000\r\n%s\r\n", strings.Repeat("x", 1<<16)); err != nil {
				return
			}
		}
		t.Error("the server has taken all of a GiB")
	}()
	wantRefused(t, answers, &calls)
}

// expectingUpload sends the body where it is asked for it: Fiber's server asks before
// any middleware runs.
func expectingUpload(t *testing.T, d Driver) {
	var calls atomic.Int64
	body, answers := startUpload(t, uploadApp(t, d, &calls), "Content-Length: 1073741824", "Expect: 100-continue")
	if d.WithoutWriter {
		line, err := answers.ReadString('\n')
		if !strings.Contains(line, " 100 ") {
			t.Fatalf("answer %q, %v", line, err)
		}
		_, _ = answers.ReadString('\n')
		_, _ = io.WriteString(body, strings.Repeat("x", 16<<10))
	}
	wantRefused(t, answers, &calls)
}

// untouched is a body that nobody may read.
type untouched struct{ t *testing.T }

func (u untouched) Read([]byte) (int, error) {
	u.t.Error("the body was asked for")
	return 0, io.EOF
}

func unaskedUpload(t *testing.T, d Driver) {
	var calls atomic.Int64
	request, err := http.NewRequest("POST", uploadApp(t, d, &calls), untouched{t})
	if err != nil {
		t.Fatal(err)
	}
	request.ContentLength = 1 << 30
	request.Header.Set("Expect", "100-continue")
	transport := &http.Transport{ExpectContinueTimeout: time.Minute}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != 429 || calls.Load() != 1 {
		t.Errorf("status %d after %d calls, want 429 after 1", response.StatusCode, calls.Load())
	}
}
