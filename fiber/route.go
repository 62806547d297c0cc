package ratelimit

import (
	"sync"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// routes finds the route that will serve a request, also before Fiber has come to
// it: Fiber's own matcher cannot be asked early. Each app has a twin with the same
// routes, whose handlers only note their pattern.
type routes struct {
	twins sync.Map // *fiber.App to *twin
}

// twin is an app's double.
type twin struct {
	handlers uint32 // how many the app had: with more, the twin is made anew
	serve    fasthttp.RequestHandler
}

// note is the key under which a twin's handler leaves its pattern.
type note struct{}

// scratch are the requests that twins serve.
var scratch = sync.Pool{New: func() any { return new(fasthttp.RequestCtx) }}

// find is the registered method and pattern, as in "GET /users/:id", "" where no
// route matches. A pattern registered for all methods stands without one. Middleware,
// which to Fiber includes Static and all that is given to Use, is no route.
func (r *routes) find(c *fiber.Ctx) string {
	ctx := scratch.Get().(*fasthttp.RequestCtx)
	defer scratch.Put(ctx)
	ctx.ResetUserValues()
	ctx.Request.Header.SetMethod(c.Method())
	ctx.URI().SetPathBytes(c.Request().URI().PathOriginal())
	r.twin(c.App()).serve(ctx)
	pattern, _ := ctx.UserValue(note{}).(string)
	return pattern
}

// twin gives an app's twin. Two first requests may both make it: they are equal.
func (r *routes) twin(app *fiber.App) *twin {
	if known, ok := r.twins.Load(app); ok && known.(*twin).handlers == app.HandlersCount() {
		return known.(*twin)
	}
	made := newTwin(app)
	r.twins.Store(app, made)
	return made
}

func newTwin(app *fiber.App) *twin {
	config := app.Config()
	double := fiber.New(fiber.Config{
		CaseSensitive: config.CaseSensitive, StrictRouting: config.StrictRouting,
		UnescapePath: config.UnescapePath, RequestMethods: config.RequestMethods,
	})
	registered := app.GetRoutes(true)
	names := name(registered, config.RequestMethods)
	for i, route := range registered {
		double.Add(route.Method, route.Path, noting(names[i]))
	}
	double.Use(func(*fiber.Ctx) error { return nil }) // what is unmatched ends here
	return &twin{app.HandlersCount(), double.Handler()}
}

func noting(name any) fiber.Handler {
	return func(c *fiber.Ctx) error {
		c.Context().SetUserValue(note{}, name)
		return nil
	}
}

// name gives each route its method and pattern: HEAD is GET where GET serves it, and
// a pattern with every method has none, since its handler is one.
func name(registered []fiber.Route, methods []string) []string {
	serves := make(map[string]map[string]bool) // by pattern and method
	for _, route := range registered {
		if serves[route.Path] == nil {
			serves[route.Path] = make(map[string]bool)
		}
		serves[route.Path][route.Method] = true
	}
	names := make([]string, len(registered))
	for i, route := range registered {
		served := serves[route.Path]
		switch {
		case len(served) == len(methods):
			names[i] = route.Path
		case route.Method == fiber.MethodHead && served[fiber.MethodGet]:
			names[i] = fiber.MethodGet + " " + route.Path
		default:
			names[i] = route.Method + " " + route.Path
		}
	}
	return names
}
