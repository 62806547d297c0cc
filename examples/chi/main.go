// Command chi is the example app on chi.
package main

import (
	"fmt"
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	ratelimit "github.com/ratelimit-go/ratelimit/chi"
	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/examples/internal/run"
	"github.com/ratelimit-go/ratelimit/examples/policies"
	"github.com/ratelimit-go/ratelimit/metrics"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

func main() {
	run.Main(func(store core.Store) run.Server { return run.HTTP(routes(store)) })
}

func routes(store core.Store) http.Handler {
	limits := ratelimit.With(ratelimit.Options{Store: store, Observers: []pipeline.Observer{metrics.New(metrics.Options{})}})

	router := chi.NewRouter()
	router.Get("/healthz", answer("healthz")) // outside the router below: not limited
	router.Method("GET", "/metrics", promhttp.Handler())

	router.Route("/", func(r chi.Router) { // a router of its own: what it does not serve is limited too
		r.Use(limits.New(policies.IP()))
		r.With(limits.New(policies.Window())).Get("/window", answer("window"))
		r.With(limits.New(policies.Exact())).Get("/exact", answer("exact"))
		r.With(limits.New(policies.Smooth())).Get("/smooth", answer("smooth"))
		r.With(limits.New(policies.Burst())).Get("/burst", answer("burst"))
		r.With(limits.New(policies.Steady())).Get("/steady", answer("steady"))
		r.With(limits.New(policies.Users())).Get("/users/{id}", answer("users"))
		r.With(limits.New(policies.Login()...)).Post("/login", login)
		r.With(limits.New(policies.Pay()...)).Get("/pay", answer("pay"))
		r.With(limits.New(policies.Report())).Get("/report", answer("report"))
	})
	return router
}

func answer(route string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, "{\"route\":%q}\n", route)
	}
}

func login(w http.ResponseWriter, r *http.Request) {
	if r.PostFormValue("password") != "secret" {
		http.Error(w, `{"error":"wrong password"}`, http.StatusUnauthorized)
		return
	}
	answer("login")(w, r)
}
