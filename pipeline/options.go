package pipeline

import (
	"log/slog"
	"sync"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/headers"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

// Options are what the policies of several middlewares share. The zero Options is
// the default. Each adapter aliases it with its framework's own types: C is the
// framework's context, R and E are the functions that answer.
type Options[C, R, E any] struct {
	// Store keeps the counts. On it, policies of one name share one budget, so
	// every policy needs a name, and one name stands for one limit. How long a
	// decision may take is for the store to bound, as redisstore.Timeout does. Nil:
	// one store in memory for all middlewares of these Options.
	Store core.Store
	// Now is the clock, for tests. Nil: the store's own.
	Now func() time.Time

	// Dialects are the header fields of answers. None: [headers.Draft11] and
	// [headers.Classic]. Dialects that clash panic at start-up.
	Dialects []headers.Dialect
	// OnRefused answers what the policies refuse; the header fields, Retry-After
	// among them, are set before. Where it writes nothing, or is nil, the default
	// answer follows: 429 with problem details.
	OnRefused R
	// OnError answers what could not be decided. It is given an [*Error], which
	// says why and which status the default answer has; that follows where OnError
	// writes nothing or is nil. Clients must not see the error's text.
	OnError E

	// ClientIP finds the client's address for policies without a key, for requests
	// whose key finds nothing, and for Allow and Deny. Nil: the peer's address.
	// Behind proxies: keyfuncs.NewClient(keyfuncs.TrustProxies("10.0.0.0/8")).
	ClientIP *keyfuncs.Client
	// Allow are networks, as "10.0.0.0/8" or "192.0.2.1", whose requests are not
	// limited.
	Allow []string
	// Deny are networks whose requests are answered with 403. It goes before
	// Allow. Text that is no network panics at start-up.
	Deny []string
	// Skip leaves a request alone: not limited, not counted.
	Skip func(C) bool
	// SkipPreflight leaves the preflight requests of CORS alone.
	SkipPreflight bool

	// Failure says which answers are failures, for policies that count by outcome.
	// A panic is a status of 500. Nil: 400 and above.
	Failure func(c C, status int) bool
	// ActualCost tells, after the handler, what the request really cost (bytes,
	// tokens), or false to leave it. The policies that have a Cost are settled to it. It is
	// not asked after a panic.
	ActualCost func(C) (int64, bool)

	// Alone promises that no other middleware of the project has to do with the
	// same requests, and that no handler asks for Results. Nothing is then put into
	// the requests' contexts, which saves a copy of each request: a fifth of what the
	// middleware adds, a third without fields. Where the promise is broken, a policy is
	// charged once by each middleware, the header fields are those of the innermost
	// alone, and Results are nil.
	Alone bool

	// Logger is told when the store goes away and comes back, and of errors that
	// no OnError takes. Nil: [slog.Default].
	Logger *slog.Logger
	// Observers are told what is decided, for metrics.
	Observers []Observer
}

// Limits makes the paths of middlewares that share Options.
type Limits[C, R, E any] struct {
	// Options are those that it was made with.
	Options Options[C, R, E]

	shared shared
}

// shared is what all paths of one Limits have in common.
type shared struct {
	store         core.Store
	names         *names
	now           func() time.Time
	format        *headers.Format
	noFields      []headers.Field // removes what nested middlewares write anew
	client        *keyfuncs.Client
	allow, deny   networks
	skipPreflight bool
	alone         bool
	logger        *slog.Logger
	observers     []Observer
	advice        *adviser
	addressless   *sync.Once
	complaints    *complaints
}

// With makes Limits. It panics on Options that are not legal, with the mend in the
// text.
func With[C, R, E any](o Options[C, R, E]) *Limits[C, R, E] {
	format, err := headers.New(o.Dialects...)
	if err != nil {
		panic(err.Error())
	}
	s := shared{
		now: o.Now, format: format, noFields: valueless(format.Names()), client: o.ClientIP, skipPreflight: o.SkipPreflight, alone: o.Alone, logger: o.Logger, observers: o.Observers,
		allow: mustNetworks("Allow", o.Allow), deny: mustNetworks("Deny", o.Deny), addressless: new(sync.Once), complaints: new(complaints),
	}
	if s.client == nil {
		s.client = keyfuncs.NewClient()
	}
	if s.logger == nil {
		s.logger = slog.Default()
	}
	s.advice = newAdviser(s.logger, s.observers)
	s.keepIn(o.Store)
	return &Limits[C, R, E]{Options: o, shared: s}
}

// valueless are fields of these names without a value.
func valueless(names []string) []headers.Field {
	fields := make([]headers.Field, len(names))
	for i, name := range names {
		fields[i].Name = name
	}
	return fields
}

// keepIn chooses the store. The one in memory is never away and needs no watch.
func (s *shared) keepIn(store core.Store) {
	if store == nil {
		s.store, s.names = core.NewMemory(), newNames(false)
		return
	}
	s.store, s.names = store, namesOf(store)
	if _, inMemory := store.(*core.Memory); inMemory {
		return
	}
	s.store = &watched{Store: store, logger: s.logger, observers: s.observers}
}

// Path makes the path of one middleware. It panics without a policy, and on
// policies that are not legal or whose names do not fit the store.
func (l *Limits[C, R, E]) Path(policies ...core.Policy) *Path[C] {
	if len(policies) == 0 {
		panic("ratelimit: New() without a policy: give at least one, such as core.PerMinute(100)")
	}
	limiter, err := core.NewLimiter(l.shared.store, policies...)
	if err != nil {
		panic(err.Error())
	}
	l.shared.names.claim(policies)
	if l.Options.Now != nil {
		limiter = limiter.WithNow(l.Options.Now)
	}
	p := &Path[C]{
		gate: gate{shared: l.shared, limiter: limiter, policies: limiter.Policies()},
		skip: l.Options.Skip, failure: l.Options.Failure, actual: l.Options.ActualCost,
	}
	p.prepare()
	p.advice.mount(&p.gate)
	return p
}
