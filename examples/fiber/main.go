// Command fiber is the example app on Fiber.
package main

import (
	"context"
	"net"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/examples/internal/run"
	"github.com/ratelimit-go/ratelimit/examples/policies"
	ratelimit "github.com/ratelimit-go/ratelimit/fiber"
	"github.com/ratelimit-go/ratelimit/metrics"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

func main() {
	run.Main(func(store core.Store) run.Server { return server{routes(store)} })
}

// server gives Fiber the method names of an [http.Server].
type server struct{ app *fiber.App }

func (s server) Serve(listener net.Listener) error  { return s.app.Listener(listener) }
func (s server) Shutdown(ctx context.Context) error { return s.app.ShutdownWithContext(ctx) }

func routes(store core.Store) *fiber.App {
	limits := ratelimit.With(ratelimit.Options{Store: store, Observers: []pipeline.Observer{metrics.New(metrics.Options{})}})

	app := fiber.New(fiber.Config{
		DisableStartupMessage: true,
		StreamRequestBody:     true, // an upload is refused before its body is read
	})
	app.Get("/healthz", answer("healthz")) // before Use: not limited
	app.Get("/metrics", adaptor.HTTPHandler(promhttp.Handler()))

	app.Use(limits.New(policies.IP()))
	app.Get("/window", limits.New(policies.Window()), answer("window"))
	app.Get("/exact", limits.New(policies.Exact()), answer("exact"))
	app.Get("/smooth", limits.New(policies.Smooth()), answer("smooth"))
	app.Get("/burst", limits.New(policies.Burst()), answer("burst"))
	app.Get("/steady", limits.New(policies.Steady()), answer("steady"))
	app.Get("/users/:id", limits.New(policies.Users()), answer("users"))
	app.Post("/login", limits.New(policies.Login()...), login)
	app.Get("/pay", limits.New(policies.Pay()...), answer("pay"))
	app.Get("/report", limits.New(policies.Report()), answer("report"))
	return app
}

func answer(route string) fiber.Handler {
	return func(c *fiber.Ctx) error { return c.JSON(fiber.Map{"route": route}) }
}

func login(c *fiber.Ctx) error {
	if c.FormValue("password") != "secret" {
		return c.Status(fiber.StatusUnauthorized).JSON(fiber.Map{"error": "wrong password"})
	}
	return answer("login")(c)
}
