package ratelimit

import (
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/go-chi/chi/v5"
)

// errUnseen is an error of a middleware outside the router.
var errUnseen = errors.New("chi's router cannot be seen from here: put the middleware into Use, With or Group of the router, not around it")

// routes are the registered routes of each root router, read at the first
// question: chi forbids to add any once it serves.
type routes struct {
	tables sync.Map // chi.Routes -> *table
}

// of is the registered method and pattern, as in "GET /users/{id}", the pattern
// alone where any method serves, "" where nothing matches.
func (s *routes) of(r *http.Request) (string, error) {
	rctx := chi.RouteContext(r.Context())
	if rctx == nil || rctx.Routes == nil {
		return "", errUnseen
	}
	t, ok := s.tables.Load(rctx.Routes)
	if !ok {
		t, _ = s.tables.LoadOrStore(rctx.Routes, read(rctx.Routes))
	}
	return t.(*table).route(rctx, r), nil
}

// table is the registered routes under one root.
type table struct {
	root  *router
	names map[registered]string
}

// registered is a method and a full pattern that were registered together.
type registered struct{ method, pattern string }

// router is a router and those mounted on it, by the pattern of the mount.
type router struct {
	chi.Routes
	mounts map[string]*router
}

func read(root chi.Routes) *table {
	t := &table{names: make(map[registered]string)}
	t.root = t.add(root, "")
	return t
}

func (t *table) add(routes chi.Routes, prefix string) *router {
	r := &router{routes, make(map[string]*router)}
	for _, route := range routes.Routes() {
		if route.SubRoutes != nil {
			mount := trim(route.Pattern)
			r.mounts[mount] = t.add(route.SubRoutes, prefix+mount)
			continue
		}
		pattern := prefix + route.Pattern
		for method := range route.Handlers {
			t.names[registered{method, pattern}] = name(route.Handlers, method, unslashed(pattern))
		}
	}
	return r
}

// name is one for all methods where any serves, and one for HEAD and GET, so that
// no method opens a second budget.
func name(handlers map[string]http.Handler, method, pattern string) string {
	if handlers["*"] != nil {
		return pattern
	}
	if method == http.MethodHead && handlers[http.MethodGet] != nil {
		method = http.MethodGet
	}
	return method + " " + pattern
}

// route is the name of the route that serves a request or will.
func (t *table) route(rctx *chi.Context, r *http.Request) string {
	method := rctx.RouteMethod
	if method == "" {
		method = r.Method
	}
	at, prefix, rest := t.root.descend(rctx.RoutePatterns)
	if rest == "" {
		return t.find(at, prefix, method, pathBelow(rctx, r))
	}
	pattern := prefix + rest // chi has matched already
	if name, ok := t.names[registered{method, pattern}]; ok {
		return name
	}
	return method + " " + unslashed(pattern) // in a router behind a plain handler
}

// searches are contexts for chi to search with.
var searches = sync.Pool{New: func() any { return chi.NewRouteContext() }}

// find asks a router, whose full pattern is prefix, as chi will.
func (t *table) find(at *router, prefix, method, path string) string {
	search := searches.Get().(*chi.Context)
	defer searches.Put(search)
	search.Reset()
	pattern := at.Find(search, method, path)
	if pattern == "" {
		return ""
	}
	full := prefix + pattern
	if name, ok := t.names[registered{method, full}]; ok {
		return name
	}
	// It is the path of a mount itself, where chi searches no further.
	mount, below, rest := at.descend(search.RoutePatterns)
	if rest != "" {
		return t.names[registered{method, unslashed(full) + "/*"}]
	}
	return t.find(mount, prefix+below, method, "/")
}

// descend follows matched patterns into mounted routers. The rest is what was
// matched below the last of them.
func (r *router) descend(patterns []string) (at *router, prefix, rest string) {
	for i, pattern := range patterns {
		mounted, ok := r.mounts[trim(pattern)]
		if !ok {
			return r, prefix, joined(patterns[i:])
		}
		r, prefix = mounted, prefix+trim(pattern)
	}
	return r, prefix, ""
}

// joined is what patterns make together, each in the wildcard of the one before.
func joined(patterns []string) string {
	last := len(patterns) - 1
	text := ""
	for _, pattern := range patterns[:last] {
		text += trim(pattern)
	}
	return text + patterns[last]
}

// pathBelow is the path that the router which is being asked has to match.
func pathBelow(rctx *chi.Context, r *http.Request) string {
	depth, n := len(rctx.RoutePatterns), len(rctx.URLParams.Values)
	switch {
	case depth > 0 && !strings.HasSuffix(rctx.RoutePatterns[depth-1], "*"):
		return "/" // the path of a mount itself
	case depth > 0 && n > 0 && rctx.URLParams.Values[n-1] != "":
		return "/" + rctx.URLParams.Values[n-1] // of a mount not yet entered, which empties it
	case rctx.RoutePath != "":
		return rctx.RoutePath
	case depth == 0 && r.URL.RawPath != "":
		return r.URL.RawPath
	case depth == 0 && r.URL.Path != "":
		return r.URL.Path
	}
	return "/"
}

// trim takes the wildcard and the slash off a mount's pattern.
func trim(pattern string) string {
	return strings.TrimSuffix(strings.TrimSuffix(pattern, "*"), "/")
}

// unslashed is a pattern without the slash at its end: a mounted router's "/" also
// serves the mount's path without one.
func unslashed(pattern string) string {
	if pattern == "/" {
		return pattern
	}
	return strings.TrimSuffix(pattern, "/")
}
