package ratelimit

import (
	"errors"
	"net/http"
	"reflect"
	"sync"

	"github.com/gin-gonic/gin"
)

// routes are the registered routes of each engine, read at the first question:
// routes are not added while an engine serves.
type routes struct {
	tables sync.Map // *gin.Engine -> map[registered]string
}

// registered is a method and a pattern that were registered together.
type registered struct{ method, pattern string }

// of is the registered method and pattern, as in "GET /users/:id", the pattern
// alone where any method serves, "" where nothing matches.
func (s *routes) of(c *gin.Context) (string, error) {
	pattern := c.FullPath()
	if pattern == "" {
		return "", nil
	}
	if !engineSeen {
		return "", errUnseen
	}
	engine := engineOf(c)
	table, ok := s.tables.Load(engine)
	if !ok {
		table, _ = s.tables.LoadOrStore(engine, read(engine))
	}
	if name, ok := table.(map[registered]string)[registered{c.Request.Method, pattern}]; ok {
		return name, nil
	}
	return c.Request.Method + " " + pattern, nil // added since
}

// errUnseen is an error of a version of Gin that is not known.
var errUnseen = errors.New("this version of Gin does not let its routes be seen: use an older one")

// engineField is where a context keeps its engine. Gin does not export it, and
// nothing else tells which methods a pattern is registered with.
var engineField, engineSeen = reflect.TypeFor[gin.Context]().FieldByName("engine")

func engineOf(c *gin.Context) *gin.Engine {
	engine := reflect.ValueOf(c).Elem().FieldByIndex(engineField.Index)
	return reflect.NewAt(reflect.TypeFor[gin.Engine](), engine.UnsafePointer()).Interface().(*gin.Engine)
}

// read names the routes of an engine.
func read(engine *gin.Engine) map[registered]string {
	names := make(map[registered]string)
	for _, route := range engine.Routes() {
		names[registered{route.Method, route.Path}] = ""
	}
	for route := range names {
		names[route] = name(names, route)
	}
	return names
}

// name is one for all methods where Any has registered them, and one for HEAD and
// GET, so that no method opens a second budget.
func name(routes map[registered]string, route registered) string {
	has := func(method string) bool { _, ok := routes[registered{method, route.pattern}]; return ok }
	switch {
	case has(http.MethodConnect) && has(http.MethodTrace): // nobody registers these alone
		return route.pattern
	case route.method == http.MethodHead && has(http.MethodGet):
		return http.MethodGet + " " + route.pattern
	}
	return route.method + " " + route.pattern
}
