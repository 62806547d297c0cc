package ratelimit_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
	ratelimit "github.com/ratelimit-go/ratelimit/nethttp"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

// spy is a policy that notes the route that it is asked to count.
func spy(seen *string) core.Policy {
	key := keyfuncs.Route()
	return core.PerSecond(1_000_000).By(func(r core.Request) (route string, err error) {
		route, err = key(r)
		*seen = route
		return route, err
	})
}

func muxOf(patterns ...string) *http.ServeMux {
	mux := http.NewServeMux()
	for _, pattern := range patterns {
		mux.HandleFunc(pattern, hello)
	}
	return mux
}

func TestRouteAroundMux(t *testing.T) {
	mux := muxOf("GET /users/{id}", "POST /users/{id}", "GET /both", "HEAD /both", "/any/", "example.org/hosted", "GET /files/{path...}")
	mux.Handle("/inner/", muxOf("GET /inner/{x}"))
	mux.Handle("/limited/", ratelimit.New(core.PerHour(1_000))(muxOf("GET /limited/{x}")))
	mux.Handle("/v1/", http.StripPrefix("/v1", muxOf("GET /users/{id}")))
	var seen string
	handler := ratelimit.New(spy(&seen))(mux)
	for _, c := range []struct{ name, method, target, want string }{
		{"a pattern", "GET", "/users/7", "GET /users/{id}"},
		{"its other method", "POST", "/users/7", "POST /users/{id}"},
		{"HEAD, which GET serves", "HEAD", "/users/7", "GET /users/{id}"},
		{"HEAD beside GET", "HEAD", "/both", "GET /both"},
		{"405", "DELETE", "/users/7", "unmatched"},
		{"a method that does not exist", "BREW", "/users/7", "unmatched"},
		{"404", "GET", "/nowhere/7", "unmatched"},
		{"a pattern without a method", "BREW", "/any/7", "/any/"},
		{"a pattern with a host", "GET", "http://example.org/hosted", "example.org/hosted"},
		{"a redirect to the slash", "GET", "/any", "/any/"},
		{"a redirect to the clean path", "GET", "/any//../any/7", "/any/"},
		{"the rest of a path", "GET", "/files/a/b", "GET /files/{path...}"},
		{"a mux in the mux", "GET", "/inner/7", "GET /inner/{x}"},
		{"404 of the inner mux", "GET", "/inner/7/8", "unmatched"},
		{"a limited mux in the mux", "GET", "/limited/7", "GET /limited/{x}"},
		{"a prefix that is stripped hides the rest", "GET", "/v1/users/7", "/v1/"},
	} {
		seen = ""
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(c.method, c.target, nil))
		if seen != c.want {
			t.Errorf("%s: %s %s is route %q, want %q", c.name, c.method, c.target, seen, c.want)
		}
	}
}

func TestRouteInMux(t *testing.T) {
	var seen string
	limit := ratelimit.New(spy(&seen))
	mux := http.NewServeMux()
	mux.Handle("GET /one/{id}", limit(http.HandlerFunc(hello)))
	mux.Handle("/v1/", http.StripPrefix("/v1", limit(muxOf("GET /users/{id}"))))
	mux.Handle("/v2/", http.StripPrefix("/v2", limit(muxOf("GET /users/{id}"))))
	mux.Handle("/api/", limit(muxOf("GET /api/users/{id}")))
	for target, want := range map[string]string{
		"/one/7":       "GET /one/{id}",
		"/v1/users/7":  "GET /v1/users/{id}",
		"/v2/users/7":  "GET /v2/users/{id}",
		"/api/users/7": "GET /api/users/{id}",
		"/api/nothing": "unmatched",
	} {
		seen = ""
		mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", target, nil))
		if seen != want {
			t.Errorf("%s is route %q, want %q", target, seen, want)
		}
	}
}

func TestRouteUnseen(t *testing.T) {
	var got error
	limits := ratelimit.With(ratelimit.Options{OnError: func(_ http.ResponseWriter, _ *http.Request, err error) { got = err }})
	wrapped := http.HandlerFunc(muxOf("GET /").ServeHTTP)
	status := visit(limits.New(core.PerMinute(1).By(keyfuncs.Route()))(wrapped), httptest.NewRequest("GET", "/", nil))
	if status != 500 || !errors.Is(got, pipeline.ErrKey) || !strings.Contains(got.Error(), "ratelimit.Route(mux)") {
		t.Errorf("status %d, error %v: want the mend", status, got)
	}
}

func TestHTTP2(t *testing.T) {
	var flushes, hijacks bool
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, flushes = w.(http.Flusher)
		_, hijacks = w.(http.Hijacker)
	})
	server := httptest.NewUnstartedServer(ratelimit.New(core.PerMinute(1).Counting(core.CountSuccesses))(handler))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	for _, want := range []int{200, 429} {
		answer, err := server.Client().Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want || answer.ProtoMajor != 2 {
			t.Errorf("%s %d, want HTTP/2 %d", answer.Proto, answer.StatusCode, want)
		}
	}
	if !flushes || hijacks {
		t.Errorf("flushes %v, hijacks %v: want what HTTP/2 has", flushes, hijacks)
	}
}
