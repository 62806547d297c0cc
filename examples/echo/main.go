// Command echo is the example app on Echo.
package main

import (
	"net/http"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ratelimit-go/ratelimit/core"
	ratelimit "github.com/ratelimit-go/ratelimit/echo"
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

	e := echo.New()
	e.GET("/healthz", answer("healthz")) // outside the group: not limited
	e.GET("/metrics", echo.WrapHandler(promhttp.Handler()))

	api := e.Group("", limits.New(policies.IP()))
	api.GET("/window", answer("window"), limits.New(policies.Window()))
	api.GET("/exact", answer("exact"), limits.New(policies.Exact()))
	api.GET("/smooth", answer("smooth"), limits.New(policies.Smooth()))
	api.GET("/burst", answer("burst"), limits.New(policies.Burst()))
	api.GET("/steady", answer("steady"), limits.New(policies.Steady()))
	api.GET("/users/:id", answer("users"), limits.New(policies.Users()))
	api.POST("/login", login, limits.New(policies.Login()...))
	api.GET("/pay", answer("pay"), limits.New(policies.Pay()...))
	api.GET("/report", answer("report"), limits.New(policies.Report()))
	return e
}

func answer(route string) echo.HandlerFunc {
	return func(c echo.Context) error { return c.JSON(http.StatusOK, echo.Map{"route": route}) }
}

func login(c echo.Context) error {
	if c.FormValue("password") != "secret" {
		return echo.NewHTTPError(http.StatusUnauthorized, "wrong password")
	}
	return answer("login")(c)
}
