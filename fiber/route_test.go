package ratelimit_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/ratelimit-go/ratelimit/core"
	ratelimit "github.com/ratelimit-go/ratelimit/fiber"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

// tellRoute is a middleware whose key writes the request's route into the answer.
func tellRoute() fiber.Handler {
	return ratelimit.New(core.PerSecond(1_000_000).By(func(r core.Request) (string, error) {
		route, err := r.Route()
		r.Native().(*fiber.Ctx).Set("X-Route", route)
		return "all", err
	}))
}

// served answers with the name of the handler.
func served(name string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		c.Set("X-Handler", name)
		return c.SendString(name)
	}
}

// town is an app with routes of every kind behind a middleware at its top.
func town(config fiber.Config) *fiber.App {
	config.DisableStartupMessage = true
	app := fiber.New(config)
	app.Use(tellRoute())
	app.Get("/", served("root"))
	app.Get("/users/:id", served("user"))
	app.Post("/users/:id", served("change"))
	app.Get("/users/:id/files/*", served("files"))
	app.Get("/Shop/:item?", served("shop"))
	app.Get("/flights/:from-:to", served("flights"))
	app.Get("/int/:n<int>", served("int"))
	app.Head("/headonly", served("headonly"))
	app.All("/all", served("all"))
	api := app.Group("/api/:version", func(c *fiber.Ctx) error { return c.Next() })
	api.Get("/ping", served("ping"))
	api.Group("/deep").Delete("/:id", served("deep"))

	inner := fiber.New()
	inner.Get("/", served("inner root"))
	inner.Get("/notes/:id", served("note"))
	outer := fiber.New()
	outer.Get("/hello", served("hello"))
	outer.Mount("/inner", inner)
	app.Mount("/mounted", outer)
	app.Use("/used", served("used"))
	return app
}

// sendRaw sends a request line as it stands.
func sendRaw(t *testing.T, address, method, target string, lines ...string) *http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	fields := strings.Join(append(lines, "Host: h", "Connection: close"), "\r\n")
	fmt.Fprintf(conn, "%s %s HTTP/1.1\r\n%s\r\n\r\n", method, target, fields)
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s %s: %v", method, target, err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response
}

func TestRoute(t *testing.T) {
	address := listen(t, town(fiber.Config{}))
	for _, c := range []struct {
		method, target string
		status         int
		route          string
	}{
		{"GET", "/", 200, "GET /"},
		{"GET", "/users/1", 200, "GET /users/:id"},
		{"HEAD", "/users/1", 200, "GET /users/:id"},
		{"POST", "/users/1", 200, "POST /users/:id"},
		{"GET", "/users/1?x=/teams/2", 200, "GET /users/:id"},
		{"GET", "/users/1/", 200, "GET /users/:id"},
		{"GET", "/USERS/1", 200, "GET /users/:id"},
		{"GET", "/users/%31", 200, "GET /users/:id"},
		{"GET", "/users/1%2F2", 200, "GET /users/:id"},
		{"GET", "http://h/users/1", 200, "GET /users/:id"},
		{"GET", "/users/1/files/a/b/c", 200, "GET /users/:id/files/*"},
		{"GET", "/shop", 200, "GET /Shop/:item?"},
		{"GET", "/SHOP/x", 200, "GET /Shop/:item?"},
		{"GET", "/flights/a-b", 200, "GET /flights/:from-:to"},
		{"GET", "/int/7", 200, "GET /int/:n<int>"},
		{"HEAD", "/headonly", 200, "HEAD /headonly"},
		{"GET", "/all", 200, "/all"},
		{"PATCH", "/all", 200, "/all"},
		{"HEAD", "/all", 200, "/all"},
		{"GET", "/api/v1/ping", 200, "GET /api/:version/ping"},
		{"DELETE", "/api/v1/deep/3", 200, "DELETE /api/:version/deep/:id"},
		{"GET", "/mounted/hello", 200, "GET /mounted/hello"},
		{"HEAD", "/mounted/hello", 200, "GET /mounted/hello"},
		{"GET", "/mounted/inner", 200, "GET /mounted/inner/"},
		{"GET", "/mounted/inner/notes/4", 200, "GET /mounted/inner/notes/:id"},

		{"GET", "/used/by/middleware", 200, ""},
		{"GET", "//users/1", 404, ""},
		{"GET", "/users//1", 404, ""},
		{"GET", "/nowhere", 404, ""},
		{"GET", "/int/x", 404, ""},
		{"DELETE", "/users/1", 405, ""},
		{"GET", "/headonly", 405, ""},
		{"OPTIONS", "/users/1", 405, ""},
		{"BREW", "/users/1", 400, ""}, // by Fiber itself, before the middleware
	} {
		got := sendRaw(t, address, c.method, c.target)
		if route := got.Header.Get("X-Route"); got.StatusCode != c.status || route != c.route {
			t.Errorf("%s %s: status %d, route %q, want %d and %q", c.method, c.target, got.StatusCode, route, c.status, c.route)
		}
	}
}

// TestOneHandlerOneRoute writes paths in every way, under every configuration of
// the router: a handler has one route by method, and what none serves has none.
func TestOneHandlerOneRoute(t *testing.T) {
	var targets []string
	for _, path := range []string{"/", "/users/1", "/users/1/files/a", "/shop/x", "/all", "/api/v1/ping", "/mounted/inner/notes/1", "/used", "/nowhere", "/int/1"} {
		targets = append(targets, path, path+"/", path+"//", "/"+path, path+"/.", path+"/..", path+"?q=1", path+"#f", path+"%2F", path+"%00",
			path+";x=1", "/."+path, "/x/.."+path, strings.ToUpper(path), strings.ReplaceAll(path, "e", "%65"), strings.ReplaceAll(path, "/", "%2F"),
			strings.ReplaceAll(path, "/", "//"), strings.ReplaceAll(path, "/", "\\"), "http://h"+path, path+"/"+strings.Repeat("x", 2000))
	}
	for _, config := range []fiber.Config{
		{}, {CaseSensitive: true}, {StrictRouting: true}, {UnescapePath: true}, {CaseSensitive: true, StrictRouting: true, UnescapePath: true},
		{Immutable: true},
	} {
		address := listen(t, town(config))
		routes := map[string]string{} // by handler and, where it has several, method
		for _, method := range []string{"GET", "HEAD", "POST"} {
			for _, target := range targets {
				got := sendRaw(t, address, method, target)
				handler, route := got.Header.Get("X-Handler"), got.Header.Get("X-Route")
				unserved := handler == "" || handler == "used"
				if unserved != (route == "") {
					t.Errorf("%s %s: handler %q has route %q", method, target, handler, route)
				}
				if known, ok := routes[handler]; ok && known != route {
					t.Errorf("%s %s: handler %q has routes %q and %q", method, target, handler, known, route)
				}
				routes[handler] = route
			}
		}
		if len(routes) < 8 {
			t.Errorf("only handlers %v were reached", routes)
		}
	}
}

// TestRouteWhereverItSits: before the routes, in a group, at a route, in a mounted
// app.
func TestRouteWhereverItSits(t *testing.T) {
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Group("/group", tellRoute()).Get("/:id", served("group"))
	app.Get("/route/:id", tellRoute(), served("route"))
	mounted := fiber.New()
	mounted.Use(tellRoute())
	mounted.Get("/:id", served("mounted"))
	app.Mount("/mounted", mounted)
	address := listen(t, app)
	for target, want := range map[string]string{
		"/group/1": "GET /group/:id", "/route/1": "GET /route/:id", "/mounted/1": "GET /mounted/:id", "/mounted/1/2": "", "/group": "",
	} {
		if got := sendRaw(t, address, "GET", target).Header.Get("X-Route"); got != want {
			t.Errorf("%s: route %q, want %q", target, got, want)
		}
	}
}

// TestOneMiddlewareInTwoApps: each app has its own routes, also those that it is
// given after the first request.
func TestOneMiddlewareInTwoApps(t *testing.T) {
	tell := tellRoute()
	first, second := fiber.New(), fiber.New(fiber.Config{CaseSensitive: true})
	for _, app := range []*fiber.App{first, second} {
		app.Use(tell)
	}
	first.Get("/a/:id", served("a"))
	second.Get("/:x/:y", served("xy"))
	ask := func(app *fiber.App, want string) {
		t.Helper()
		request, err := http.NewRequest("GET", "/a/1", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := app.Test(request)
		if err != nil {
			t.Fatal(err)
		}
		if got := response.Header.Get("X-Route"); got != want {
			t.Errorf("route %q, want %q", got, want)
		}
	}
	ask(first, "GET /a/:id")
	ask(second, "GET /:x/:y")
	ask(first, "GET /a/:id")

	late := fiber.New()
	late.Use(tell)
	ask(late, "")
	late.Get("/a/:late", served("late"))
	ask(late, "GET /a/:late")
}

// TestUnmatchedIsOneKey: whatever is asked for, nothing new is counted.
func TestUnmatchedIsOneKey(t *testing.T) {
	store := core.NewMemory()
	limits := ratelimit.With(ratelimit.Options{Store: store})
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Use(limits.New(core.PerMinute(3).Named("route").By(keyfuncs.Route())))
	app.Get("/here", served("here"))
	address := listen(t, app)
	for i, target := range []string{"/a", "/b/c", "//here", "/here/..", "/%68ere", "/here%2F", "/a?b=1"} {
		got := sendRaw(t, address, []string{"GET", "POST", "DELETE"}[i%3], target)
		if limited := got.StatusCode == 429; limited != (i >= 3) {
			t.Errorf("%s: status %d", target, got.StatusCode)
		}
	}
	if got := sendRaw(t, address, "GET", "/HERE/"); got.StatusCode != 200 {
		t.Errorf("the route itself: status %d", got.StatusCode)
	}
	if n := store.Len(); n != 2 {
		t.Errorf("%d keys are counted, want 2", n)
	}
}

// BenchmarkRoute is what asking for the route costs.
func BenchmarkRoute(b *testing.B) {
	for _, target := range []string{"/users/1", "/nowhere"} {
		b.Run(target, func(b *testing.B) {
			app := fiber.New()
			app.Use(ratelimit.New(core.PerMinute(1).By(func(r core.Request) (string, error) {
				b.ReportAllocs()
				for b.Loop() {
					_, _ = r.Route()
				}
				return "k", nil
			})))
			app.Get("/users/:id", served("user"))
			request, err := http.NewRequest("GET", target, nil)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := app.Test(request, -1); err != nil {
				b.Fatal(err)
			}
		})
	}
}
