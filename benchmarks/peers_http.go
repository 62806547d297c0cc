package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/didip/tollbooth/v8"
	tollboothlimiter "github.com/didip/tollbooth/v8/limiter"
	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/httprate"
	"github.com/gofiber/fiber/v2"
	fiberlimiter "github.com/gofiber/fiber/v2/middleware/limiter"
	"github.com/labstack/echo/v4"
	echomiddleware "github.com/labstack/echo/v4/middleware"
	"github.com/sethvargo/go-limiter/httplimit"
	"github.com/sethvargo/go-limiter/memorystore"
	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"
	ulule "github.com/ulule/limiter/v3"
	ululegin "github.com/ulule/limiter/v3/drivers/middleware/gin"
	ululehttp "github.com/ulule/limiter/v3/drivers/middleware/stdlib"
	ululememory "github.com/ulule/limiter/v3/drivers/store/memory"
	"github.com/valyala/fasthttp"
	"golang.org/x/time/rate"

	ourchi "github.com/ratelimit-go/ratelimit/chi"
	"github.com/ratelimit-go/ratelimit/core"
	ourecho "github.com/ratelimit-go/ratelimit/echo"
	ourfiber "github.com/ratelimit-go/ratelimit/fiber"
	ourgin "github.com/ratelimit-go/ratelimit/gin"
	"github.com/ratelimit-go/ratelimit/headers"
	ournethttp "github.com/ratelimit-go/ratelimit/nethttp"
)

const (
	httprateName = "httprate"
	ululeName    = "ulule/limiter"
	builtIn      = "built-in"

	path = "/items"
	body = "ok"
)

var frameworks = []framework{
	{
		name: "net/http", bare: func() site { return ofMux() }, ours: ofNetHTTP,
		peers: []webPeer{
			{httprateName, func(q quota) site { return ofMux(httprateBy(q)) }},
			{ululeName, func(q quota) site { return ofMux(ululehttp.NewMiddleware(ululeOf(q)).Handler) }},
			{"tollbooth", func(q quota) site { return ofMux(tollboothOf(q)) }},
			{"go-limiter", func(q quota) site { return ofMux(goLimiterOf(q)) }},
			{"throttled", func(q quota) site { return ofMux(throttledOf(q)) }},
		},
	},
	{
		name: "Gin", bare: func() site { return ofGin() }, ours: ofOurGin,
		peers: []webPeer{{ululeName, func(q quota) site { return ofGin(ululegin.NewMiddleware(ululeOf(q))) }}},
	},
	{
		name: "chi", bare: func() site { return ofChi() }, ours: ofOurChi,
		peers: []webPeer{
			{httprateName, func(q quota) site { return ofChi(httprateBy(q)) }},
			{ululeName, func(q quota) site { return ofChi(ululehttp.NewMiddleware(ululeOf(q)).Handler) }},
		},
	},
	{
		name: "Echo", bare: func() site { return ofEcho() }, ours: ofOurEcho,
		peers: []webPeer{{builtIn, func(q quota) site { return ofEcho(echoBuiltIn(q)) }}},
	},
	{
		name: "Fiber", bare: func() site { return ofFiber() }, ours: ofOurFiber,
		peers: []webPeer{{builtIn, func(q quota) site { return ofFiber(fiberBuiltIn(q)) }}},
	},
}

type httpMiddleware = func(http.Handler) http.Handler

func answer(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }

// ofHandler serves in this process, without a socket. As in a real server, each
// request has a new and empty header map.
func ofHandler(h http.Handler) site {
	return func() visit {
		w := new(writer)
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Accept", "*/*")
		r.Header.Set("User-Agent", "bench")
		return func() int {
			w.header, w.status = make(http.Header), http.StatusOK
			h.ServeHTTP(w, r)
			return w.status
		}
	}
}

// writer is the least that a server writes to.
type writer struct {
	header http.Header
	status int
}

func (w *writer) Header() http.Header         { return w.header }
func (w *writer) WriteHeader(status int)      { w.status = status }
func (w *writer) Write(p []byte) (int, error) { return len(p), nil }
func (w *writer) WriteString(p string) (int, error) {
	return len(p), nil
}

func ofMux(all ...httpMiddleware) site {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+path, answer)
	var h http.Handler = mux
	for _, m := range all {
		h = m(h)
	}
	return ofHandler(h)
}

func ofGin(all ...gin.HandlerFunc) site {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.Use(all...)
	router.GET(path, func(c *gin.Context) { c.String(http.StatusOK, body) })
	return ofHandler(router)
}

func ofChi(all ...httpMiddleware) site {
	router := chi.NewRouter()
	router.Use(all...)
	router.Get(path, answer)
	return ofHandler(router)
}

func ofEcho(all ...echo.MiddlewareFunc) site {
	e := echo.New()
	e.Use(all...)
	e.GET(path, func(c echo.Context) error { return c.String(http.StatusOK, body) })
	return ofHandler(e)
}

// ofFiber serves in this process. As in a real server, the response is used again
// for the next request.
func ofFiber(all ...fiber.Handler) site {
	app := fiber.New()
	for _, m := range all {
		app.Use(m)
	}
	app.Get(path, func(c *fiber.Ctx) error { return c.SendString(body) })
	handler := app.Handler()
	return func() visit {
		var request fasthttp.Request
		request.Header.SetMethod(http.MethodGet)
		request.SetRequestURI(path)
		request.Header.Set("Accept", "*/*")
		request.Header.Set("User-Agent", "bench")
		c := new(fasthttp.RequestCtx)
		c.Init(&request, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1234}, nil)
		return func() int {
			c.Response.Reset()
			c.ResetUserValues()
			handler(c)
			return c.Response.StatusCode()
		}
	}
}

// Our middleware in each framework.

func ofNetHTTP(alone bool, p core.Policy, d ...headers.Dialect) site {
	return ofMux(ournethttp.With(ournethttp.Options{Dialects: d, Alone: alone}).New(p))
}

func ofOurGin(alone bool, p core.Policy, d ...headers.Dialect) site {
	return ofGin(ourgin.With(ourgin.Options{Dialects: d, Alone: alone}).New(p))
}

func ofOurChi(alone bool, p core.Policy, d ...headers.Dialect) site {
	return ofChi(ourchi.With(ourchi.Options{Dialects: d, Alone: alone}).New(p))
}

func ofOurEcho(alone bool, p core.Policy, d ...headers.Dialect) site {
	return ofEcho(ourecho.With(ourecho.Options{Dialects: d, Alone: alone}).New(p))
}

func ofOurFiber(alone bool, p core.Policy, d ...headers.Dialect) site {
	return ofFiber(ourfiber.With(ourfiber.Options{Dialects: d, Alone: alone}).New(p))
}

// The peers, each counting by the peer's address as its documentation shows.

func httprateBy(q quota) httpMiddleware {
	return httprate.LimitBy(int(q.limit), q.window, httprate.KeyByIP)
}

func ululeOf(q quota) *ulule.Limiter {
	return ulule.New(ululememory.NewStore(), ulule.Rate{Limit: q.limit, Period: q.window})
}

func tollboothOf(q quota) httpMiddleware {
	l := tollboothlimiter.New(nil).SetMax(1 / q.refill.Seconds()).SetBurst(int(q.limit))
	return tollbooth.HTTPMiddleware(l)
}

func goLimiterOf(q quota) httpMiddleware {
	store := must(memorystore.New(&memorystore.Config{Tokens: uint64(q.limit), Interval: q.window}))
	return must(httplimit.NewMiddleware(store, httplimit.IPKeyFunc())).Handle
}

func throttledOf(q quota) httpMiddleware {
	bounds := throttled.RateQuota{MaxRate: throttled.PerDuration(1, q.refill), MaxBurst: int(q.limit) - 1}
	l := &throttled.HTTPRateLimiterCtx{
		RateLimiter: must(throttled.NewGCRARateLimiterCtx(must(memstore.NewCtx(0)), bounds)),
		VaryBy:      &throttled.VaryBy{RemoteAddr: true},
	}
	return l.RateLimit
}

func echoBuiltIn(q quota) echo.MiddlewareFunc {
	return echomiddleware.RateLimiter(echomiddleware.NewRateLimiterMemoryStoreWithConfig(echomiddleware.RateLimiterMemoryStoreConfig{
		Rate: rate.Every(q.refill), Burst: int(q.limit), ExpiresIn: time.Hour,
	}))
}

func fiberBuiltIn(q quota) fiber.Handler {
	return fiberlimiter.New(fiberlimiter.Config{Max: int(q.limit), Expiration: q.window})
}
