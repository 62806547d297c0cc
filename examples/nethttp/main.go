// Command nethttp is the example app on net/http.
package main

import (
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/examples/internal/run"
	"github.com/ratelimit-go/ratelimit/examples/policies"
	"github.com/ratelimit-go/ratelimit/metrics"
	ratelimit "github.com/ratelimit-go/ratelimit/nethttp"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

func main() {
	run.Main(func(store core.Store) run.Server { return run.HTTP(routes(store)) })
}

func routes(store core.Store) http.Handler {
	limits := ratelimit.With(ratelimit.Options{Store: store, Observers: []pipeline.Observer{metrics.New(metrics.Options{})}})

	api := http.NewServeMux()
	api.Handle("GET /window", limits.New(policies.Window())(answer("window")))
	api.Handle("GET /exact", limits.New(policies.Exact())(answer("exact")))
	api.Handle("GET /smooth", limits.New(policies.Smooth())(answer("smooth")))
	api.Handle("GET /burst", limits.New(policies.Burst())(answer("burst")))
	api.Handle("GET /steady", limits.New(policies.Steady())(answer("steady")))
	api.Handle("GET /users/{id}", limits.New(policies.Users())(answer("users")))
	api.Handle("POST /login", limits.New(policies.Login()...)(http.HandlerFunc(login)))
	api.Handle("GET /pay", limits.New(policies.Pay()...)(answer("pay")))
	api.Handle("GET /report", limits.New(policies.Report())(answer("report")))

	mux := http.NewServeMux()
	mux.Handle("/", limits.New(policies.IP())(api))
	mux.Handle("GET /healthz", answer("healthz"))
	mux.Handle("GET /metrics", promhttp.Handler())
	return mux
}

func answer(route string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, "{\"route\":%q}\n", route)
	})
}

func login(w http.ResponseWriter, r *http.Request) {
	if r.PostFormValue("password") != "secret" {
		http.Error(w, `{"error":"wrong password"}`, http.StatusUnauthorized)
		return
	}
	answer("login").ServeHTTP(w, r)
}
