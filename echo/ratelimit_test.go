package ratelimit_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/ratelimit-go/ratelimit/core"
	ratelimit "github.com/ratelimit-go/ratelimit/echo"
	"github.com/ratelimit-go/ratelimit/internal/adaptertest"
)

func TestAdapter(t *testing.T) {
	adaptertest.Run(t, adaptertest.Driver{
		Serve: serve,
		Key: func(key func(adaptertest.Call) (string, error)) core.Key {
			return ratelimit.Key(func(c echo.Context) (string, error) { return key(view(c)) })
		},
		User: func(user func(adaptertest.Call) (string, bool)) core.Key {
			return ratelimit.User(func(c echo.Context) (string, bool) { return user(view(c)) })
		},
		ErrorHandler: true,
	})
}

func serve(t *testing.T, app adaptertest.App) string {
	e := quiet()
	e.IPExtractor = echo.ExtractIPFromXFFHeader() // has no say
	e.HTTPErrorHandler = func(err error, c echo.Context) {
		if app.Errors != nil {
			app.Errors.Add(1)
		}
		e.DefaultHTTPErrorHandler(err, c)
	}
	e.Use(recovered, func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if app.Outer != nil {
				app.Outer(view(c))
			}
			return next(c)
		}
	})
	b := builder{app, limiter(app)}
	e.Use(b.limits(app.Global)...)
	b.add(e, app.Routes, app.Groups)
	return adaptertest.Listen(t, app, e)
}

// builder makes routes of an app.
type builder struct {
	app   adaptertest.App
	limit func(...core.Policy) echo.MiddlewareFunc
}

// router is what Echo and its groups have in common.
type router interface {
	Add(method, path string, handler echo.HandlerFunc, middleware ...echo.MiddlewareFunc) *echo.Route
	Any(path string, handler echo.HandlerFunc, middleware ...echo.MiddlewareFunc) []*echo.Route
	Group(prefix string, middleware ...echo.MiddlewareFunc) *echo.Group
}

// limiter makes middlewares that share the app's options.
func limiter(app adaptertest.App) func(...core.Policy) echo.MiddlewareFunc {
	if app.Options == nil {
		return ratelimit.New
	}
	return ratelimit.With(options(*app.Options)).New
}

func (b builder) limits(all []adaptertest.Policies) (limits []echo.MiddlewareFunc) {
	for _, policies := range all {
		limits = append(limits, b.limit(policies...))
	}
	return limits
}

// anew is a middleware that is made for each request.
func (b builder) anew(policies adaptertest.Policies) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error { return limiter(b.app)(policies...)(next)(c) }
	}
}

func (b builder) add(r router, routes []adaptertest.Route, groups []adaptertest.Group) {
	for _, route := range routes {
		limits := b.limits(route.Limits)
		if b.app.PerRequest {
			for i := range limits {
				limits[i] = b.anew(route.Limits[i])
			}
		}
		handler := func(c echo.Context) error {
			call := &call{c: c}
			route.Handler(call)
			return call.err
		}
		if route.Method == adaptertest.AnyMethod {
			r.Any(adaptertest.Pattern(route.Path), handler, limits...)
			continue
		}
		r.Add(route.Method, adaptertest.Pattern(route.Path), handler, limits...)
	}
	for _, group := range groups {
		b.add(r.Group(adaptertest.Pattern(group.Path), b.limits(group.Limits)...), group.Routes, group.Groups)
	}
}

func quiet() *echo.Echo {
	e := echo.New()
	e.Logger.SetOutput(io.Discard)
	return e
}

// recovered answers a panic with 500, as Echo's own Recover does for all but
// http.ErrAbortHandler.
func recovered(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			if recover() != nil {
				err = echo.ErrInternalServerError
			}
		}()
		return next(c)
	}
}

func options(o adaptertest.Options) ratelimit.Options {
	filled := adaptertest.Fill[echo.Context, func(echo.Context, core.Result) error, func(echo.Context, error) error](o, view)
	if o.OnRefused != nil {
		filled.OnRefused = func(c echo.Context, r core.Result) error {
			call := &call{c: c}
			o.OnRefused(call, r)
			return call.err
		}
	}
	if o.OnError != nil {
		filled.OnError = func(c echo.Context, err error) error {
			call := &call{c: c}
			o.OnError(call, err)
			return call.err
		}
	}
	return filled
}

func view(c echo.Context) adaptertest.Call { return &call{c: c} }

type call struct {
	c   echo.Context
	err error // what the handler or the hook returns
}

func (c *call) Context() context.Context       { return c.c.Request().Context() }
func (c *call) SetContext(ctx context.Context) { c.c.SetRequest(c.c.Request().WithContext(ctx)) }
func (c *call) Header(name string) string      { return c.c.Request().Header.Get(name) }
func (c *call) Query(name string) string       { return c.c.QueryParam(name) }
func (c *call) Form(name string) string        { return c.c.FormValue(name) }
func (c *call) SetField(name, value string)    { c.c.Response().Header().Set(name, value) }
func (c *call) Answer(status int, body string) { _ = c.c.String(status, body) }
func (c *call) Fail(status int)                { c.err = echo.NewHTTPError(status) }
func (c *call) Stream(events <-chan string)    { adaptertest.Stream(c.c.Response(), events) }
func (c *call) Upgrade(serve func(net.Conn))   { adaptertest.Upgrade(c.c.Response(), serve) }
func (c *call) Results() []*core.Result        { return ratelimit.Results(c.c) }

// Writer is Echo's own, with what handlers reach for below it.
func (c *call) Writer() http.ResponseWriter {
	response := c.c.Response()
	//lint:ignore SA1019 old handlers ask for it
	notifier, ok := response.Writer.(http.CloseNotifier)
	if !ok {
		return response
	}
	return struct {
		*echo.Response
		http.CloseNotifier
	}{response, notifier}
}

// hour is a policy whose budget is seen in the answers.
func hour(count core.Outcomes) core.Policy {
	return core.PerHour(10).FixedWindow().Counting(count)
}

// TestErrorsCountByStatus: an error counts by the status that Echo's own error
// handler answers, which the client sees.
func TestErrorsCountByStatus(t *testing.T) {
	unauthorized := echo.NewHTTPError(http.StatusUnauthorized, "who are you?")
	for _, c := range []struct {
		name   string
		serve  echo.HandlerFunc
		status int
	}{
		{"an HTTPError", func(echo.Context) error { return unauthorized }, 401},
		{"one that is no failure", func(echo.Context) error { return echo.NewHTTPError(302) }, 302},
		{"one in another", func(echo.Context) error { return echo.NewHTTPError(500).SetInternal(unauthorized) }, 401},
		{"one with a cause", func(echo.Context) error { return echo.NewHTTPError(404).SetInternal(io.EOF) }, 404},
		{"another error", func(echo.Context) error { return io.EOF }, 500},
		{"an answer", func(c echo.Context) error { return c.NoContent(418) }, 418},
		{"an answer, then an error", func(c echo.Context) error { _ = c.NoContent(201); return unauthorized }, 201},
		{"nothing", func(echo.Context) error { return nil }, 200},
	} {
		seen := 0
		limits := ratelimit.With(ratelimit.Options{Failure: func(_ echo.Context, status int) bool {
			seen = status
			return false
		}})
		e := quiet()
		e.GET("/", c.serve, limits.New(hour(core.CountFailures)))
		answer := httptest.NewRecorder()
		e.ServeHTTP(answer, httptest.NewRequest("GET", "/", nil))
		if answer.Code != c.status || seen != c.status {
			t.Errorf("%s: answered %d, counted as %d, want %d", c.name, answer.Code, seen, c.status)
		}
	}
}

// TestErrorHandlerRunsOnce for the handler's error and for a hook's; not for a
// default answer, which is written.
func TestErrorHandlerRunsOnce(t *testing.T) {
	refuse := func(echo.Context, core.Result) error {
		return echo.NewHTTPError(http.StatusTeapot, "later")
	}
	fail := func(_ echo.Context, err error) error {
		return echo.NewHTTPError(http.StatusBadGateway).SetInternal(err)
	}
	for _, c := range []struct {
		name         string
		options      ratelimit.Options
		path         string
		status, runs int
	}{
		{"the handler's error", ratelimit.Options{}, "/?handler=1", 409, 1},
		{"the default refusal", ratelimit.Options{}, "/?never=1", 429, 0},
		{"the default answer to an error", ratelimit.Options{}, "/?fail=1", 400, 0},
		{"a refusal by the hook", ratelimit.Options{OnRefused: refuse}, "/?never=1", 418, 1},
		{"an answer to an error by the hook", ratelimit.Options{OnError: fail}, "/?fail=1", 502, 1},
	} {
		for _, counted := range []core.Outcomes{core.CountAll, core.CountFailures} {
			runs := 0
			e := quiet()
			e.HTTPErrorHandler = func(err error, c echo.Context) {
				runs++
				e.DefaultHTTPErrorHandler(err, c)
			}
			cost := func(r core.Request) (int64, error) {
				switch {
				case r.Query("never") != "":
					return 1000, nil
				case r.Query("fail") != "":
					return 0, io.EOF
				}
				return 1, nil
			}
			e.Use(ratelimit.With(c.options).New(hour(counted).Costing(cost)))
			e.GET("/", func(c echo.Context) error { return echo.NewHTTPError(http.StatusConflict) })
			answer := httptest.NewRecorder()
			e.ServeHTTP(answer, httptest.NewRequest("GET", c.path, nil))
			if answer.Code != c.status || runs != c.runs {
				t.Errorf("%s: status %d after %d runs, want %d after %d", c.name, answer.Code, runs, c.status, c.runs)
			}
			if refused := c.status == 429 || c.status == 418; refused && answer.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%s: the fields of a refusal are missing: %v", c.name, answer.Header())
			}
		}
	}
}

// TestWithMiddleware: the limiter beside Echo's own middleware, on both sides.
func TestWithMiddleware(t *testing.T) {
	limit := func() echo.MiddlewareFunc { return ratelimit.New(core.PerHour(1).Counting(core.CountFailures)) }
	gzip := func() echo.MiddlewareFunc { return middleware.GzipWithConfig(middleware.GzipConfig{MinLength: 1}) }
	for name, chain := range map[string][]echo.MiddlewareFunc{
		"gzip outside":    {gzip(), limit()},
		"gzip inside":     {limit(), gzip()},
		"recover outside": {middleware.Recover(), limit()},
		"recover inside":  {limit(), middleware.Recover()},
		"cors outside":    {middleware.CORS(), limit()},
		"a timeout":       {middleware.ContextTimeout(1e9), limit()},
	} {
		e := quiet()
		e.Use(chain...)
		e.GET("/", func(c echo.Context) error {
			if c.QueryParam("panic") != "" {
				panic("handler")
			}
			return c.String(200, "fine")
		})
		server := httptest.NewServer(e)
		t.Cleanup(server.Close)
		for i, step := range []struct {
			path   string
			status int
			body   string
		}{
			{"/", 200, "fine"}, {"/", 200, "fine"}, // no failure, no charge
			{"/nowhere", 404, `{"message":"Not Found"}` + "\n"}, {"/", 429, ""},
		} {
			response, err := http.Get(server.URL + step.path)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			response.Body.Close()
			if response.StatusCode != step.status || err != nil || step.body != "" && string(body) != step.body {
				t.Errorf("%s: request %d: status %d, body %q, %v", name, i+1, response.StatusCode, body, err)
			}
		}
	}
}

// TestPanicGoesOn to Echo's Recover, and counts as a failure.
func TestPanicGoesOn(t *testing.T) {
	e := quiet()
	e.Use(middleware.RecoverWithConfig(middleware.RecoverConfig{DisablePrintStack: true}), ratelimit.New(core.PerHour(1).Counting(core.CountFailures)))
	e.GET("/", func(echo.Context) error { panic("handler") })
	for _, want := range []int{500, 429} {
		answer := httptest.NewRecorder()
		if e.ServeHTTP(answer, httptest.NewRequest("GET", "/", nil)); answer.Code != want {
			t.Errorf("status %d, want %d", answer.Code, want)
		}
	}
}

// custom is a context of a user's own.
type custom struct {
	echo.Context
	tenant string
}

// TestCustomContext: hooks and keys see the context that the middleware was given.
func TestCustomContext(t *testing.T) {
	e := quiet()
	e.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error { return next(&custom{c, c.QueryParam("t")}) }
	})
	e.Use(ratelimit.New(core.PerHour(1).By(ratelimit.Key(func(c echo.Context) (string, error) { return c.(*custom).tenant, nil }))))
	e.GET("/", func(c echo.Context) error { return c.NoContent(200) })
	for _, step := range []struct {
		path   string
		status int
	}{{"/?t=a", 200}, {"/?t=b", 200}, {"/?t=a", 429}} {
		answer := httptest.NewRecorder()
		if e.ServeHTTP(answer, httptest.NewRequest("GET", step.path, nil)); answer.Code != step.status {
			t.Errorf("%s: status %d, want %d", step.path, answer.Code, step.status)
		}
	}
}
