package cases_test

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	fibercors "github.com/gofiber/fiber/v2/middleware/cors"
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	chilimit "github.com/ratelimit-go/ratelimit/chi"
	"github.com/ratelimit-go/ratelimit/core"
	echolimit "github.com/ratelimit-go/ratelimit/echo"
	fiberlimit "github.com/ratelimit-go/ratelimit/fiber"
	ginlimit "github.com/ratelimit-go/ratelimit/gin"
	nethttplimit "github.com/ratelimit-go/ratelimit/nethttp"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

// app is one route behind a middleware, in any framework.
type app struct {
	store    core.Store
	policies []core.Policy
	path     string // as in "/users/{id}"; "": "/"
	handler  http.HandlerFunc
	refusal  int // OnRefused answers this; 0: there is none
	logger   *slog.Logger
}

func (a app) pattern() string {
	if a.path == "" {
		return "/"
	}
	return a.path
}

// fill makes options of one framework.
func fill[C, R, E any](a app, refuse R) pipeline.Options[C, R, E] {
	o := pipeline.Options[C, R, E]{Store: a.store, Logger: a.logger, Now: newClock().now}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if a.refusal != 0 {
		o.OnRefused = refuse
	}
	return o
}

// handlers build the frameworks that stand on net/http: CORS outermost, then the
// limiter, then the route.
var handlers = map[string]func(a app) http.Handler{
	"net/http": func(a app) http.Handler {
		limits := nethttplimit.With(fill[*http.Request, func(http.ResponseWriter, *http.Request, core.Result), func(http.ResponseWriter, *http.Request, error)](a,
			func(w http.ResponseWriter, _ *http.Request, _ core.Result) { w.WriteHeader(a.refusal) }))
		mux := http.NewServeMux()
		mux.Handle(strings.TrimSuffix(a.pattern(), "/")+map[bool]string{true: "/{$}", false: ""}[a.path == ""], a.handler)
		return cors(limits.New(a.policies...)(mux))
	},
	"chi": func(a app) http.Handler {
		limits := chilimit.With(fill[*http.Request, func(http.ResponseWriter, *http.Request, core.Result), func(http.ResponseWriter, *http.Request, error)](a,
			func(w http.ResponseWriter, _ *http.Request, _ core.Result) { w.WriteHeader(a.refusal) }))
		router := chi.NewRouter()
		router.Use(cors, limits.New(a.policies...))
		router.Handle(a.pattern(), a.handler)
		return router
	},
	"gin": func(a app) http.Handler {
		gin.SetMode(gin.ReleaseMode)
		limits := ginlimit.With(fill[*gin.Context, func(*gin.Context, core.Result), func(*gin.Context, error)](a,
			func(c *gin.Context, _ core.Result) { c.Status(a.refusal); c.Writer.WriteHeaderNow() })) // no Abort
		router := gin.New()
		router.Use(func(c *gin.Context) { c.Header("Access-Control-Allow-Origin", "*") }, limits.New(a.policies...))
		router.Any(colons(a.pattern()), gin.WrapF(a.handler))
		return router
	},
	"echo": func(a app) http.Handler {
		limits := echolimit.With(fill[echo.Context, func(echo.Context, core.Result) error, func(echo.Context, error) error](a,
			func(c echo.Context, _ core.Result) error { return c.NoContent(a.refusal) }))
		e := echo.New()
		e.Logger.SetOutput(io.Discard)
		e.Use(middleware.CORS(), limits.New(a.policies...))
		e.Any(colons(a.pattern()), echo.WrapHandler(a.handler))
		return e
	},
}

func cors(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		next.ServeHTTP(w, r)
	})
}

// colons is "/users/:id" for "/users/{id}".
func colons(path string) string { return strings.NewReplacer("{", ":", "}", "").Replace(path) }

func fiberApp(a app) *fiber.App {
	limits := fiberlimit.With(fill[*fiber.Ctx, func(*fiber.Ctx, core.Result) error, func(*fiber.Ctx, error) error](a,
		func(c *fiber.Ctx, _ core.Result) error { return c.SendStatus(a.refusal) }))
	made := fiber.New(fiber.Config{DisableStartupMessage: true})
	made.Use(fibercors.New(), limits.New(a.policies...))
	made.All(colons(a.pattern()), adaptor.HTTPHandlerFunc(a.handler))
	return made
}

// inFrameworks serves an app in all five frameworks, over real HTTP.
func inFrameworks(t *testing.T, build func() app, run func(t *testing.T, url string)) {
	for name, handler := range handlers {
		t.Run(name, func(t *testing.T) {
			served := httptest.NewServer(handler(build()))
			defer served.Close()
			run(t, served.URL)
		})
	}
	t.Run("fiber", func(t *testing.T) {
		made := fiberApp(build())
		listener, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = made.Listener(listener) }()
		defer func() { _ = made.ShutdownWithTimeout(time.Second) }()
		run(t, "http://"+listener.Addr().String())
	})
}

func ok(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }

// answer is what a client got.
type answer struct {
	*http.Response
	body string
}

// clients keep enough connections for what is sent at once.
var client = &http.Client{
	Transport:     &http.Transport{MaxIdleConnsPerHost: 200},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// send makes a request; pairs are header fields.
func send(t testing.TB, method, url string, pairs ...string) answer {
	request, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Error(err)
		return answer{&http.Response{}, ""}
	}
	for i := 0; i < len(pairs); i += 2 {
		request.Header.Add(pairs[i], pairs[i+1])
	}
	response, err := client.Do(request)
	if err != nil {
		t.Error(err)
		return answer{&http.Response{}, ""}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	return answer{response, string(body)}
}
