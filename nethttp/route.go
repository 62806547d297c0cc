package ratelimit

import (
	"errors"
	"net/http"
	"strings"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

// errUnseen is an error of a middleware that does not know the routes.
var errUnseen = errors.New("the mux cannot be seen from here: use By(ratelimit.Route(mux)), or put the middleware around the mux itself or around a handler in it")

// Route is [keyfuncs.Route] where the middleware cannot see the mux, such as when
// other middleware lies between: it counts by the pattern that the mux has
// registered for the request. It panics on nil.
func Route(mux *http.ServeMux) core.Key {
	if mux == nil {
		panic("ratelimit: Route(nil): give the mux that serves")
	}
	key := keyfuncs.Route()
	return func(r core.Request) (string, error) { return key(routed{r, mux}) }
}

// routed is a request whose mux is known.
type routed struct {
	core.Request
	mux *http.ServeMux
}

func (r routed) Route() (string, error) {
	request, ok := r.Native().(*http.Request)
	if !ok {
		return "", errors.New("ratelimit.Route of net/http in a request of another framework: use keyfuncs.Route()")
	}
	return route(r.mux, request)
}

// route is the pattern that will serve the request, HEAD as GET, so that it opens no
// second budget where both are registered.
func route(next http.Handler, r *http.Request) (string, error) {
	pattern, err := serving(next, r)
	if path, head := strings.CutPrefix(pattern, http.MethodHead+" "); head {
		pattern = http.MethodGet + " " + path
	}
	return pattern, err
}

// serving is the pattern of a mux which is next, or the one under which this handler
// is registered.
func serving(next http.Handler, r *http.Request) (string, error) {
	pattern, seen := descend(next, r)
	switch {
	case !seen && r.Pattern == "":
		return "", errUnseen
	case !seen:
		return r.Pattern, nil
	case pattern == "":
		return "", nil
	}
	return mounted(r.Pattern, pattern), nil
}

// descend follows muxes into muxes, also through this package's own middleware.
// The pattern is "" where none serves the request.
func descend(next http.Handler, r *http.Request) (pattern string, seen bool) {
	for {
		switch h := next.(type) {
		case *handler:
			next = h.next
		case *http.ServeMux:
			next, pattern = h.Handler(r)
			seen = true
			if pattern == "" {
				return "", true
			}
		default:
			return pattern, seen
		}
	}
}

// mounted is an inner pattern under an outer one: http.StripPrefix between them
// takes the outer path off.
func mounted(outer, inner string) string {
	prefix := strings.TrimSuffix(path(outer), "/")
	if prefix == "" || strings.HasPrefix(path(inner), prefix+"/") {
		return inner
	}
	at := len(inner) - len(path(inner))
	return inner[:at] + prefix + inner[at:]
}

// path is what a pattern has from its first slash on.
func path(pattern string) string {
	if slash := strings.IndexByte(pattern, '/'); slash >= 0 {
		return pattern[slash:]
	}
	return ""
}
