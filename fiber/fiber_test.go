package ratelimit_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/recover"

	"github.com/ratelimit-go/ratelimit/core"
	ratelimit "github.com/ratelimit-go/ratelimit/fiber"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

// wantStatuses sends GET requests.
func wantStatuses(t *testing.T, address, target string, want ...int) (last *http.Response) {
	t.Helper()
	for i, status := range want {
		if last = sendRaw(t, address, "GET", target); last.StatusCode != status {
			t.Fatalf("%s, request %d: status %d, want %d", target, i+1, last.StatusCode, status)
		}
	}
	return last
}

// errHandled is an error that an ErrorHandler knows.
var errHandled = errors.New("handled")

// TestHooksReturnErrors: they go to the app's ErrorHandler, which runs once, and the
// fields stay.
func TestHooksReturnErrors(t *testing.T) {
	var handled atomic.Int64
	app := fiber.New(fiber.Config{DisableStartupMessage: true, ErrorHandler: func(c *fiber.Ctx, err error) error {
		handled.Add(1)
		if !errors.Is(err, errHandled) {
			t.Errorf("the ErrorHandler is given %v", err)
		}
		return c.Status(418).SendString("handled")
	}})
	limits := ratelimit.With(ratelimit.Options{
		Deny:      []string{"10.0.0.0/8"},
		ClientIP:  keyfuncs.NewClient(keyfuncs.TrustProxies("127.0.0.1")),
		OnRefused: func(*fiber.Ctx, core.Result) error { return errHandled },
		OnError:   func(_ *fiber.Ctx, err error) error { return errors.Join(errHandled, err) },
	})
	app.Use(limits.New(core.PerMinute(1)))
	app.Get("/", served("root"))
	address := listen(t, app)

	refused := wantStatuses(t, address, "/", 200, 418)
	if refused.Header.Get("Retry-After") == "" || refused.Header.Get("Content-Type") == "application/problem+json" {
		t.Errorf("the refusal has fields %v", refused.Header)
	}
	if got := sendRaw(t, address, "GET", "/", "X-Forwarded-For: 10.0.0.1"); got.StatusCode != 418 {
		t.Errorf("status %d of a denied network", got.StatusCode)
	}
	if n := handled.Load(); n != 2 {
		t.Errorf("the ErrorHandler ran %d times, want 2", n)
	}
}

// TestHooksWrite: whatever a hook writes is its answer, alone.
func TestHooksWrite(t *testing.T) {
	for _, c := range []struct {
		name   string
		hook   func(*fiber.Ctx) error
		status int
		body   string
	}{
		{"a status", func(c *fiber.Ctx) error { return c.SendStatus(204) }, 204, ""},
		{"a body", func(c *fiber.Ctx) error { return c.SendString("later") }, 200, "later"},
		{"a redirect", func(c *fiber.Ctx) error { return c.Redirect("/later") }, 302, ""},
		{"a stream", func(c *fiber.Ctx) error { return c.SendStream(strings.NewReader("later")) }, 200, "later"},
		{"an error", func(*fiber.Ctx) error { return fiber.NewError(420, "calm") }, 420, "calm"},
		{"nothing", func(*fiber.Ctx) error { return nil }, 429, "application/problem+json"},
	} {
		app := fiber.New(fiber.Config{DisableStartupMessage: true})
		app.Use(func(c *fiber.Ctx) error {
			_, _ = c.Status(201).WriteString("written too early")
			return c.Next()
		})
		limits := ratelimit.With(ratelimit.Options{OnRefused: func(ctx *fiber.Ctx, _ core.Result) error { return c.hook(ctx) }})
		app.Get("/", limits.New(core.PerMinute(1)), served("root"))
		url := "http://" + listen(t, app)
		client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		for _, want := range []int{201, c.status} {
			response, err := client.Get(url)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(response.Body)
			response.Body.Close()
			if response.StatusCode != want {
				t.Errorf("%s: status %d, want %d", c.name, response.StatusCode, want)
			}
			if c.name == "nothing" {
				body = []byte(response.Header.Get("Content-Type"))
			}
			if want == c.status && string(body) != c.body {
				t.Errorf("%s: body %q, want %q", c.name, body, c.body)
			}
		}
	}
}

// TestErrorsCountByTheirStatus: only failures count, and a handler's error is one.
func TestErrorsCountByTheirStatus(t *testing.T) {
	var failures []int
	limits := ratelimit.With(ratelimit.Options{Failure: func(_ *fiber.Ctx, status int) bool {
		failures = append(failures, status)
		return status >= 400
	}})
	var handled int
	app := fiber.New(fiber.Config{DisableStartupMessage: true, ErrorHandler: func(c *fiber.Ctx, err error) error {
		handled++
		return fiber.DefaultErrorHandler(c, err)
	}})
	app.Use(recover.New(), limits.New(core.PerMinute(5).Counting(core.CountFailures)))
	app.Get("/ok", served("ok"))
	app.Get("/plain", func(*fiber.Ctx) error { return errors.New("plain") })
	app.Get("/coded", func(*fiber.Ctx) error { return fmt.Errorf("wrapped: %w", fiber.ErrTeapot) })
	app.Get("/kind", func(*fiber.Ctx) error { return fiber.NewError(302, "moved") })
	app.Get("/panic", func(*fiber.Ctx) error { panic("handler") })
	app.Get("/hijack", func(c *fiber.Ctx) error {
		c.Context().Hijack(func(conn net.Conn) { _ = conn.Close() })
		return c.SendStatus(101)
	})
	for _, c := range []struct {
		target    string
		status    int
		remaining string
	}{
		{"/ok", 200, "4"}, {"/ok", 200, "4"}, {"/kind", 302, "4"}, {"/plain", 500, "4"}, {"/coded", 418, "3"},
		{"/nowhere", 404, "2"}, {"/panic", 500, "1"}, {"/ok", 200, "0"}, {"/hijack", 101, "0"}, {"/ok", 429, "0"},
	} {
		request, err := http.NewRequest("GET", c.target, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := app.Test(request, -1)
		if err != nil {
			t.Fatalf("%s: %v", c.target, err)
		}
		if got.StatusCode != c.status || got.Header.Get("RateLimit-Remaining") != c.remaining {
			t.Errorf("%s: status %d, %s left, want %d and %s", c.target, got.StatusCode, got.Header.Get("RateLimit-Remaining"), c.status, c.remaining)
		}
	}
	if want := "[200 200 302 500 418 404 500 200]"; fmt.Sprint(failures) != want {
		t.Errorf("counted by statuses %v, want %s", failures, want)
	}
	if handled != 5 {
		t.Errorf("the ErrorHandler ran %d times, want 5", handled)
	}
}

// TestPanicsGoOn to whoever recovers, once what is due has been given back.
func TestPanicsGoOn(t *testing.T) {
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	var caught []any
	app.Use(recover.New(recover.Config{EnableStackTrace: true, StackTraceHandler: func(_ *fiber.Ctx, e any) { caught = append(caught, e) }}))
	app.Use(ratelimit.New(core.PerMinute(1).Counting(core.CountSuccesses)))
	app.Get("/", func(*fiber.Ctx) error { panic(errHandled) })
	address := listen(t, app)
	wantStatuses(t, address, "/", 500, 500, 500)
	if len(caught) != 3 || caught[0] != errHandled {
		t.Errorf("recovered %v", caught)
	}
}

// TestPeerIsNeverAHeader, also where Fiber has been told to believe one.
func TestPeerIsNeverAHeader(t *testing.T) {
	app := fiber.New(fiber.Config{DisableStartupMessage: true, ProxyHeader: fiber.HeaderXForwardedFor})
	app.Use(ratelimit.New(core.PerMinute(2)))
	app.Get("/", func(c *fiber.Ctx) error { return c.SendString(c.IP()) })
	address := listen(t, app)
	for i, want := range []int{200, 200, 429, 429} {
		got := sendRaw(t, address, "GET", "/", fmt.Sprintf("X-Forwarded-For: 10.0.0.%d", i), "X-Forwarded-Host: h")
		if got.StatusCode != want {
			t.Errorf("request %d: status %d, want %d", i+1, got.StatusCode, want)
		}
	}
}

// TestHost is what the client named, never what a header of a proxy says.
func TestHost(t *testing.T) {
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Use(ratelimit.New(core.PerMinute(1).By(keyfuncs.Host())))
	app.Get("/", served("root"))
	address := listen(t, app)
	wantStatuses(t, address, "/", 200, 429)
	if got := sendRaw(t, address, "GET", "/", "X-Forwarded-Host: other"); got.StatusCode != 429 {
		t.Errorf("with X-Forwarded-Host: status %d", got.StatusCode)
	}
	if got := sendRaw(t, address, "GET", "http://other/"); got.StatusCode != 200 {
		t.Errorf("another host: status %d", got.StatusCode)
	}
}

// TestHeldRequestKeepsItsTurn: Fiber does not tell that a client has left.
func TestHeldRequestKeepsItsTurn(t *testing.T) {
	ran := make(chan struct{}, 2)
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Get("/", ratelimit.New(core.PerSecond(5).LeakyBucket(3)), func(*fiber.Ctx) error {
		ran <- struct{}{}
		return nil
	})
	address := listen(t, app)
	wantStatuses(t, address, "/", 200)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	conn.Close()
	for range 2 {
		select {
		case <-ran:
		case <-time.After(5 * time.Second):
			t.Fatal("the handler did not run in the turn of a client that has left")
		}
	}
}

// upload sends the start of a body and reads the answer.
func upload(t *testing.T, address string, fields, start string) (response *http.Response, rest *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprintf(conn, "POST /upload HTTP/1.1\r\nHost: h\r\n%s\r\n\r\n%s", fields, start)
	rest = bufio.NewReader(conn)
	if response, err = http.ReadResponse(rest, nil); err != nil {
		t.Fatalf("%q: %v", fields, err)
	}
	return response, rest
}

// TestUploadIsRefusedBeforeItIsRead, and what follows of it is no request.
func TestUploadIsRefusedBeforeItIsRead(t *testing.T) {
	var posted atomic.Int64
	app := fiber.New(fiber.Config{DisableStartupMessage: true, StreamRequestBody: true, DisablePreParseMultipartForm: true})
	app.Post("/upload", ratelimit.New(core.PerMinute(1)), func(c *fiber.Ctx) error {
		n, err := io.Copy(io.Discard, c.Context().RequestBodyStream())
		posted.Add(n)
		return err
	})
	address := listen(t, app)
	if got, _ := upload(t, address, "Content-Length: 100000", strings.Repeat("x", 100_000)); got.StatusCode != 200 || posted.Load() != 100_000 {
		t.Fatalf("status %d, %d bytes read", got.StatusCode, posted.Load())
	}
	smuggled := strings.Repeat("x", 16<<10) + "\r\n\r\nPOST /upload HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"
	for _, fields := range []string{
		"Content-Length: 1073741824",
		"Content-Length: 1000000",
		"Content-Length: 1000000\r\nContent-Type: multipart/form-data; boundary=b",
		"Transfer-Encoding: chunked",
	} {
		start := smuggled
		if strings.HasPrefix(fields, "Transfer") {
			start = "10000\r\n" + smuggled
		}
		got, rest := upload(t, address, fields, start)
		if got.StatusCode != 429 || !got.Close {
			t.Errorf("%s: status %d, closes %v", fields, got.StatusCode, got.Close)
		}
		_, _ = io.Copy(io.Discard, got.Body)
		if more, _ := io.ReadAll(rest); len(more) > 0 {
			t.Errorf("%s: the rest of the body was answered with %q", fields, more)
		}
	}
}

// TestStreamedForms: the key finds the form, and the handler still finds the stream.
func TestStreamedForms(t *testing.T) {
	const encoded = "Content-Type: application/x-www-form-urlencoded\r\n"
	parts := "--b\r\nContent-Disposition: form-data; name=\"user\"\r\n\r\nann\r\n--b--\r\n"
	large := "user=ann&x=" + strings.Repeat("x", 2<<20)
	for _, c := range []struct {
		name, fields, body string
		key                string
	}{
		{"a form", encoded, "user=ann&b=1", "ann"},
		{"a form of some length", encoded, "user=ann&x=" + strings.Repeat("x", 100_000), "ann"},
		{"parts", "Content-Type: multipart/form-data; boundary=b\r\n", parts, "ann"},
		{"too large a form", encoded, large, ""},
		{"no form", "", "user=ann", ""},
	} {
		app := fiber.New(fiber.Config{DisableStartupMessage: true, StreamRequestBody: true, DisablePreParseMultipartForm: true})
		app.Post("/upload", ratelimit.New(core.PerMinute(9).WithoutKey(core.SkipNoKey).By(func(r core.Request) (string, error) {
			user := r.Form("user")
			r.Native().(*fiber.Ctx).Set("X-User", user+r.Form("user"))
			return user, nil
		})), func(c *fiber.Ctx) error { return c.SendStream(c.Context().RequestBodyStream()) })
		got, _ := upload(t, listen(t, app), fmt.Sprintf("%sContent-Length: %d", c.fields, len(c.body)), c.body)
		body, err := io.ReadAll(got.Body)
		if string(body) != c.body || err != nil {
			t.Errorf("%s: the handler reads %d bytes, %v, want %d", c.name, len(body), err, len(c.body))
		}
		if user := got.Header.Get("X-User"); user != c.key+c.key {
			t.Errorf("%s: key %q, want %q twice", c.name, user, c.key)
		}
	}
}
