// Command gin is the example app on Gin.
package main

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/examples/internal/run"
	"github.com/ratelimit-go/ratelimit/examples/policies"
	ratelimit "github.com/ratelimit-go/ratelimit/gin"
	"github.com/ratelimit-go/ratelimit/metrics"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

func main() {
	gin.SetMode(gin.ReleaseMode)
	run.Main(func(store core.Store) run.Server { return run.HTTP(routes(store)) })
}

func routes(store core.Store) http.Handler {
	limits := ratelimit.With(ratelimit.Options{Store: store, Observers: []pipeline.Observer{metrics.New(metrics.Options{})}})

	router := gin.New()
	router.GET("/healthz", answer("healthz")) // before Use: not limited
	router.GET("/metrics", gin.WrapH(promhttp.Handler()))

	router.Use(limits.New(policies.IP()))
	router.GET("/window", limits.New(policies.Window()), answer("window"))
	router.GET("/exact", limits.New(policies.Exact()), answer("exact"))
	router.GET("/smooth", limits.New(policies.Smooth()), answer("smooth"))
	router.GET("/burst", limits.New(policies.Burst()), answer("burst"))
	router.GET("/steady", limits.New(policies.Steady()), answer("steady"))
	router.GET("/users/:id", limits.New(policies.Users()), answer("users"))
	router.POST("/login", limits.New(policies.Login()...), login)
	router.GET("/pay", limits.New(policies.Pay()...), answer("pay"))
	router.GET("/report", limits.New(policies.Report()), answer("report"))
	return router
}

func answer(route string) gin.HandlerFunc {
	return func(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"route": route}) }
}

func login(c *gin.Context) {
	if c.PostForm("password") != "secret" {
		c.JSON(http.StatusUnauthorized, gin.H{"error": "wrong password"})
		return
	}
	answer("login")(c)
}
