package ratelimit_test

import (
	"net"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/ratelimit-go/ratelimit/core"
	ratelimit "github.com/ratelimit-go/ratelimit/fiber"
)

// endless admits whatever comes.
func endless() core.Policy { return core.PerSecond(1_000_000_000).TokenBucket(1_000_000_000) }

// request gives a function that serves one request, without a server.
func request(handlers ...fiber.Handler) func() {
	app := fiber.New()
	app.Get("/", append(handlers, func(*fiber.Ctx) error { return nil })...)
	serve, ctx := app.Handler(), &fasthttp.RequestCtx{}
	ctx.SetRemoteAddr(&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 51234})
	return func() {
		ctx.Response.Reset()
		ctx.ResetUserValues()
		serve(ctx)
	}
}

// BenchmarkPath is what the middleware adds to a request, fields included.
func BenchmarkPath(b *testing.B) {
	for _, c := range []struct {
		name  string
		serve func()
	}{
		{"bare", request()},
		{"admitted", request(ratelimit.New(endless()))},
		{"admitted, three policies", request(ratelimit.New(endless().Named("a"), endless().Named("b"), endless().Named("c")))},
		{"refused", request(ratelimit.New(core.Per(1, 366*24*60*60*1e9)))},
	} {
		b.Run(c.name, func(b *testing.B) {
			c.serve()
			b.ReportAllocs()
			for b.Loop() {
				c.serve()
			}
		})
	}
}
