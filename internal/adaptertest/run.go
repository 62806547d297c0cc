package adaptertest

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/core/redisstore"
	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

// testCase is one phrase of what all frameworks do.
type testCase struct {
	name string
	run  func(*testing.T, Driver)

	writer bool // needs an http.ResponseWriter
	errors bool // needs the framework's own error handler
	once   bool // is about no store, or about one of its own
	redis  bool // is about Redis
	alone  bool // is too heavy to run beside others
}

var all = slices.Concat(decisions, fields, keys, hostileInputs, outcomes, hooks, panics, waits, stores, shared, routes, groups, protocols, uploads, writers, load)

// Run runs the suite, each case with counts in memory and with counts in Redis, and
// logs the table of what has run.
func Run(t *testing.T, d Driver) {
	done := &table{outcomes: make(map[string]map[string]string)}
	t.Cleanup(func() { t.Log(done.text()) })
	logging.Disable() // what go-redis says of servers that cases kill
	server := redistest.Start(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), ContextTimeoutEnabled: true})
	t.Cleanup(func() { _ = client.Close() })
	t.Run("memory", func(t *testing.T) { done.run(t, "memory", d.inMemory(), func(c testCase) bool { return !c.redis }) })
	t.Run("redis", func(t *testing.T) { done.run(t, "redis", d.inRedis(client), func(c testCase) bool { return !c.once }) })
}

// table is what has run, by case and store.
type table struct {
	mu       sync.Mutex // guards outcomes
	outcomes map[string]map[string]string
}

func (done *table) run(t *testing.T, store string, d Driver, chosen func(testCase) bool) {
	for _, c := range all {
		if c.writer && d.WithoutWriter || c.errors && !d.ErrorHandler || !chosen(c) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Cleanup(func() { done.note(c.name, store, t.Failed()) })
			if !c.alone {
				t.Parallel()
			}
			c.run(t, d)
		})
	}
}

func (done *table) note(name, store string, failed bool) {
	done.mu.Lock()
	defer done.mu.Unlock()
	if done.outcomes[name] == nil {
		done.outcomes[name] = make(map[string]string)
	}
	done.outcomes[name][store] = "ok"
	if failed {
		done.outcomes[name][store] = "FAIL"
	}
}

// text has one line for each case that has run.
func (done *table) text() string {
	done.mu.Lock()
	defer done.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%d cases\n%-72s memory redis\n", len(done.outcomes), "")
	for _, c := range all {
		if by, ran := done.outcomes[c.name]; ran {
			fmt.Fprintf(&b, "%-72s %-6s %s\n", c.name, or(by["memory"], "-"), or(by["redis"], "-"))
		}
	}
	return b.String()
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// inMemory leaves the apps as they are.
func (d Driver) inMemory() Driver {
	d.store = func() func() core.Store {
		store := core.NewMemory()
		return func() core.Store { return store }
	}
	return d
}

// prefixes keep the stores of one server apart.
var prefixes atomic.Int64

// inRedis gives the apps that have none a store in Redis of their own.
func (d Driver) inRedis(client *redis.Client) Driver {
	serve := d.Serve
	newStore := func(prefix string) core.Store {
		return redisstore.New(client, redisstore.Prefix(prefix), redisstore.Timeout(time.Minute))
	}
	d.store = func() func() core.Store {
		prefix := fmt.Sprintf("given%d", prefixes.Add(1))
		return func() core.Store { return newStore(prefix) }
	}
	d.Serve = func(t *testing.T, app App) string {
		var o Options
		if app.Options != nil {
			o = *app.Options
		}
		if o.Store == nil {
			o.Store = newStore(fmt.Sprintf("app%d", prefixes.Add(1)))
			named(&app)
		}
		if o.Logger == nil {
			o.Logger = staysThere(t)
		}
		app.Options = &o
		return serve(t, app)
	}
	return d
}

// staysThere is a log that fails the test when its store goes away.
func staysThere(t *testing.T) *slog.Logger {
	text := new(logged)
	t.Cleanup(func() {
		if strings.Contains(text.String(), "store is away") {
			t.Errorf("logged: %s", text)
		}
	})
	return slog.New(slog.NewTextHandler(text, nil))
}

// named gives every policy of an app the name that it has anyway: a store that is
// given asks for names.
func named(app *App) {
	app.Global = namedAll(app.Global)
	app.Routes = namedRoutes(app.Routes)
	app.Groups = namedGroups(app.Groups)
}

func namedGroups(groups []Group) []Group {
	groups = slices.Clone(groups)
	for i := range groups {
		g := &groups[i]
		g.Limits, g.Routes, g.Groups = namedAll(g.Limits), namedRoutes(g.Routes), namedGroups(g.Groups)
	}
	return groups
}

func namedRoutes(routes []Route) []Route {
	routes = slices.Clone(routes)
	for i := range routes {
		routes[i].Limits = namedAll(routes[i].Limits)
	}
	return routes
}

func namedAll(limits []Policies) []Policies {
	limits = slices.Clone(limits)
	for i := range limits {
		limits[i] = slices.Clone(limits[i])
		for j := range limits[i] {
			limits[i][j].Name = limits[i][j].DisplayName()
		}
	}
	return limits
}
