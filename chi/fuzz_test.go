package ratelimit_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

// stamped is a handler that says by which name it is to be counted.
func stamped(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Served", name) }
}

func stampedApp(s *spy) http.Handler {
	inner := chi.NewRouter()
	inner.Get("/", stamped("GET /a/{x}"))
	inner.Get("/{y}", stamped("GET /a/{x}/{y}"))
	inner.Handle("/{y}/z", stamped("/a/{x}/{y}/z"))
	inner.Mount("/in", stamped("/a/{x}/in/*"))
	wild := chi.NewRouter()
	wild.Get("/*", stamped("GET /w/*"))
	root := chi.NewRouter()
	root.Use(middleware.StripSlashes, s.limit())
	root.Get("/", stamped("GET /"))
	root.Get("/a", stamped("GET /a"))
	root.Get("/a/b-{n:[0-9]+}.txt", stamped("GET /a/b-{n:[0-9]+}.txt"))
	root.Mount("/a/{x}", inner)
	root.Mount("/w", wild)
	root.Post("/w", stamped("POST /w"))
	return root
}

// FuzzRoutes: what is counted is what serves, whatever a client writes.
func FuzzRoutes(f *testing.F) {
	for _, method := range []string{"GET", "HEAD", "POST", "BREW", "get", "*", ""} {
		for _, path := range []string{
			"/", "", "/a", "/a/", "/a/1", "/a/1/", "/a/1/2", "/a/1/2/z", "/a/1/in", "/a/1/in/", "/a/1/in/3", "/a/b-7.txt", "/a/b-7.txt/2",
			"/w", "/w/", "/w/1//2", "//", "/a//", "/a//2", "/a/%2F/%32", "/a/1/in//", "/A/1",
		} {
			f.Add(method, path)
		}
	}
	var s spy
	app := stampedApp(&s)
	f.Fuzz(func(t *testing.T, method, path string) {
		target, err := url.ParseRequestURI(path)
		if err != nil {
			return
		}
		s.counted.Store("")
		answer := httptest.NewRecorder()
		app.ServeHTTP(answer, &http.Request{Method: method, URL: target, Header: http.Header{}, Host: "h", RemoteAddr: "192.0.2.1:1", Body: http.NoBody})
		want := answer.Header().Get("Served")
		if want == "" {
			want = "unmatched"
		}
		if got := s.counted.Load(); got != want {
			t.Errorf("%s %s: counted %q, served %q", method, path, got, want)
		}
	})
}
