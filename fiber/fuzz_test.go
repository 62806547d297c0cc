package ratelimit_test

import (
	"net"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// routeOf is the route of each handler of the town; what is given to Use has none.
var routeOf = map[string]string{
	"": "", "used": "",
	"root": "GET /", "user": "GET /users/:id", "change": "POST /users/:id", "files": "GET /users/:id/files/*",
	"shop": "GET /Shop/:item?", "flights": "GET /flights/:from-:to", "int": "GET /int/:n<int>", "headonly": "HEAD /headonly", "all": "/all",
	"ping": "GET /api/:version/ping", "deep": "DELETE /api/:version/deep/:id",
	"inner root": "GET /mounted/inner/", "note": "GET /mounted/inner/notes/:id", "hello": "GET /mounted/hello",
}

// FuzzRoutes: what is counted is what serves, whatever a client writes.
func FuzzRoutes(f *testing.F) {
	for _, method := range []string{"GET", "HEAD", "POST", "DELETE", "OPTIONS", "BREW", "get", ""} {
		for _, target := range []string{
			"/", "", "*", "//", "/users/1", "/users/1/", "/users/1/files/a/b", "/users/%31", "/users/1%2F2", "/USERS/1", "/shop", "/shop/x",
			"/flights/a-b", "/flights/-", "/flights/a-b-c", "/int/7", "/int/x", "/int/-0", "/headonly", "/all", "/api/v/ping", "/api/v/deep/1",
			"/mounted/hello", "/mounted/inner", "/mounted/inner/notes/1", "/used", "/used/by", "/users//1", "/users/:id", "/users/1?x=/all",
			"http://h/users/1", "/x/../users/1", "/users/1#f", "/users\\1", "/" + strings.Repeat("a/", 1<<14),
		} {
			f.Add(method, target)
		}
	}
	serve := town(fiber.Config{}).Handler()
	peer := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1}
	f.Fuzz(func(t *testing.T, method, target string) {
		var request fasthttp.Request
		request.Header.SetMethod(method)
		request.SetRequestURI(target)
		var c fasthttp.RequestCtx
		c.Init(&request, peer, nil)
		serve(&c)
		handler, route := string(c.Response.Header.Peek("X-Handler")), string(c.Response.Header.Peek("X-Route"))
		if want, known := routeOf[handler]; !known || route != want {
			t.Errorf("%q %q: counted %q, served by %q", method, target, route, handler)
		}
	})
}
