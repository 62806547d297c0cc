package debug_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/debug"
	ratelimit "github.com/ratelimit-go/ratelimit/nethttp"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

// Operators are known by a password here; behind a login it is a role.
func ExampleNew() {
	isOperator := func(r *http.Request) bool {
		_, password, _ := r.BasicAuth()
		return password == "open sesame"
	}
	shown := debug.New(debug.Options{Authorize: isOperator})
	limits := ratelimit.With(ratelimit.Options{Observers: []pipeline.Observer{shown}})

	mux := http.NewServeMux()
	mux.Handle("GET /search", limits.New(core.PerHour(2).Named("search"))(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	mux.HandleFunc("/debug/ratelimit", func(w http.ResponseWriter, r *http.Request) {
		if isOperator(r) {
			shown.ServeHTTP(w, r)
			return
		}
		http.NotFound(w, r)
	})

	for range 3 {
		mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/search", nil))
	}
	request := httptest.NewRequest("GET", "/debug/ratelimit?policy=search&as=ip&key=192.0.2.1", nil)
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, request)
	fmt.Println("a stranger gets", answer.Code)

	request.SetBasicAuth("", "open sesame")
	answer = httptest.NewRecorder()
	mux.ServeHTTP(answer, request)
	fmt.Println("an operator gets", answer.Code)
	// Output:
	// a stranger gets 404
	// an operator gets 200
}
