package ratelimit

import (
	"errors"
	"net/http"
	"sync"

	"github.com/labstack/echo/v4"
)

// errEarly is an error of a middleware that runs before the router.
var errEarly = errors.New("the route is not known yet: put the middleware into Use of the Echo, a group or the route, not into Pre")

// routes are the registered routes of each router, read at the first question:
// Echo forbids to add any once it serves.
type routes struct {
	tables sync.Map // *echo.Router -> map[registered]string
}

// registered is a method and a pattern that were registered together.
type registered struct{ method, pattern string }

// of is the registered method and pattern, as in "GET /users/:id", with the host
// where the route is one of Echo.Host, "" where nothing matches. Echo also gives a
// pattern where it answers 404, 405 or OPTIONS by itself: no route has its method.
func (s *routes) of(c echo.Context) (string, error) {
	router, host := routerOf(c)
	if c.Path() == "" {
		if matches(c, router) {
			return "", errEarly
		}
		return "", nil
	}
	table, ok := s.tables.Load(router)
	if !ok {
		table, _ = s.tables.LoadOrStore(router, read(router, host))
	}
	return table.(map[registered]string)[registered{c.Request().Method, c.Path()}], nil
}

// routerOf gives the router that Echo asks, and the host that it is for.
func routerOf(c echo.Context) (router *echo.Router, host string) {
	host = c.Request().Host
	if router, ok := c.Echo().Routers()[host]; ok {
		return router, host
	}
	return c.Echo().Router(), ""
}

// matches asks the router for a request that no route has been found for yet.
func matches(c echo.Context, router *echo.Router) bool {
	probe := c.Echo().AcquireContext()
	defer c.Echo().ReleaseContext(probe)
	probe.Reset(c.Request(), nil)
	router.Find(c.Request().Method, echo.GetPath(c.Request()), probe)
	return probe.Path() != ""
}

// read names the routes of a router.
func read(router *echo.Router, host string) map[registered]string {
	methods := make(map[registered]bool)
	for _, route := range router.Routes() {
		methods[registered{route.Method, route.Path}] = route.Method != echo.RouteNotFound
	}
	names := make(map[registered]string, len(methods))
	for route, serves := range methods {
		if serves {
			names[route] = name(methods, route, host)
		}
	}
	return names
}

// name is one for all methods where Any has registered them, and one for HEAD and
// GET, so that no method opens a second budget.
func name(methods map[registered]bool, route registered, host string) string {
	has := func(method string) bool { return methods[registered{method, route.pattern}] }
	switch {
	case has(http.MethodConnect) && has(http.MethodTrace): // nobody registers these alone
		return host + route.pattern
	case route.method == http.MethodHead && has(http.MethodGet):
		return http.MethodGet + " " + host + route.pattern
	}
	return route.method + " " + host + route.pattern
}
