package pipeline

import (
	"context"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

// Advice is the stable code of a misuse that is pointed out, once for each
// [Limits], in the log and to the observers that are [AdviceObserver]. Its section
// in docs/advice.md says what to do.
type Advice string

// What is pointed out.
const (
	// ForwardedUnread: a forwarding header arrives from a private address, and the
	// key is that address: all clients behind a proxy share one budget.
	ForwardedUnread Advice = "forwarded-unread"
	// ForwardedFromAll: forwarding headers are believed of every peer.
	ForwardedFromAll Advice = "forwarded-from-all"
	// MountedTwice: a request meets the same policies a second time.
	MountedTwice Advice = "mounted-twice"
	// ManyKeys: more than a million keys under one policy in an hour. Package tally
	// sees it.
	ManyKeys Advice = "many-keys"
	// CostAboveLimit: a request asks for more than its limit ever admits.
	CostAboveLimit Advice = "cost-above-limit"
	// StoreEvicts: the server forgets keys when its memory is full.
	StoreEvicts Advice = "store-evicts"
	// MemoryInPrefork: the store is in memory, and Fiber serves from several
	// processes.
	MemoryInPrefork Advice = "memory-in-prefork"
	// WindowBelowSecond: the header fields tell whole seconds of a shorter window.
	WindowBelowSecond Advice = "window-below-second"
)

// AllAdvice is every code, in the order of docs/advice.md.
func AllAdvice() []Advice {
	return []Advice{
		ForwardedUnread, ForwardedFromAll, MountedTwice, ManyKeys,
		CostAboveLimit, StoreEvicts, MemoryInPrefork, WindowBelowSecond,
	}
}

// Text is the advice in one sentence, for a log.
func (a Advice) Text() string {
	switch a {
	case ForwardedUnread:
		return "all clients behind the proxy share one budget: name it with keyfuncs.TrustProxies"
	case ForwardedFromAll:
		return "every client can choose its address: give keyfuncs.TrustProxies the networks of your proxies only"
	case MountedTwice:
		return "the same policies stand twice in a request's way, and count once: take one out"
	case ManyKeys:
		return "more than a million keys in an hour: count by something that clients cannot choose"
	case CostAboveLimit:
		return "a cost above the limit can never pass: raise the limit, its burst, or lower the cost"
	case StoreEvicts:
		return "the server forgets limits when its memory is full: set maxmemory-policy to noeviction"
	case MemoryInPrefork:
		return "each process counts for itself: give Options a store in Redis, or turn Prefork off"
	case WindowBelowSecond:
		return "clients are told whole seconds of a shorter window: give a window of a second or more"
	}
	return "an advice that is not known"
}

// AdviceObserver is an [Observer] that is also told of misuse, once for each kind.
type AdviceObserver interface {
	Advised(advice Advice)
}

// Evicting is what a store may have to say whether its server forgets keys when its
// memory is full.
type Evicting interface {
	Evicts(ctx context.Context) (bool, error)
}

// preforkChild is set in the processes that Fiber's Prefork starts.
const preforkChild = "FIBER_PREFORK_CHILD"

// mostLooked bounds the requests that are looked at for a header that nobody reads, so
// that later ones cost nothing.
const mostLooked = 10_000

// adviser points misuse out, each kind once.
type adviser struct {
	logger    *slog.Logger
	observers []Observer

	told    [8]atomic.Bool // in the order of AllAdvice
	looked  atomic.Int64   // requests, for ForwardedUnread
	peer    *keyfuncs.Client
	askOnce atomic.Bool // the store was asked whether it evicts
}

func newAdviser(logger *slog.Logger, observers []Observer) *adviser {
	return &adviser{logger: logger, observers: observers, peer: keyfuncs.NewClient()}
}

// tell says it once. The policy is the name of the one that it is about, or "".
func (a *adviser) tell(advice Advice, policy string) {
	for i, known := range AllAdvice() {
		if known == advice && (a.told[i].Load() || a.told[i].Swap(true)) {
			return
		}
	}
	a.logger.Warn("ratelimit: "+advice.Text(), "advice", string(advice), "policy", policy, "see", "docs/advice.md#"+string(advice))
	for _, o := range a.observers {
		if advised, ok := o.(AdviceObserver); ok {
			advised.Advised(advice)
		}
	}
}

// onMount points out what can be seen before a request arrives.
func (a *adviser) onMount(store core.Store, client *keyfuncs.Client, policies []core.Policy) {
	for i := range policies {
		if limit := policies[i].Limit; limit.Period > 0 && limit.Period < time.Second {
			a.tell(WindowBelowSecond, policies[i].Name)
		}
	}
	if _, inMemory := store.(*core.Memory); inMemory && os.Getenv(preforkChild) != "" {
		a.tell(MemoryInPrefork, "")
	}
	if trustsAll(client) {
		a.tell(ForwardedFromAll, "")
	}
	if evicting, ok := store.(Evicting); ok && !a.askOnce.Swap(true) {
		go a.askStore(evicting)
	}
}

// askStore runs beside the start: the server need not be there yet, and then it is
// not known.
func (a *adviser) askStore(store Evicting) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if evicts, err := store.Evicts(ctx); err == nil && evicts {
		a.tell(StoreEvicts, "")
	}
}

// trustsAll tries the client with a peer that is nobody's proxy: its addresses are
// set aside for documentation (RFC 5737, RFC 3849).
func trustsAll(client *keyfuncs.Client) bool {
	for _, peer := range [...]string{"203.0.113.1:1", "[2001:db8::1]:1"} {
		if client.Addr(stranger{peer}).String() == strangersClient {
			return true
		}
	}
	return false
}

// stranger is a request from a peer that no list of proxies should hold, which says
// in every header that it comes for another.
type stranger struct{ peer string }

const strangersClient = "198.51.100.7"

func (s stranger) Context() context.Context { return context.Background() }
func (s stranger) Method() string           { return "GET" }
func (s stranger) Host() string             { return "" }
func (s stranger) Route() (string, error)   { return "", nil }
func (s stranger) Peer() string             { return s.peer }
func (s stranger) Query(string) string      { return "" }
func (s stranger) Form(string) string       { return "" }
func (s stranger) Native() any              { return nil }

func (s stranger) Header(name string) []string {
	if strings.EqualFold(name, "Forwarded") {
		return []string{"for=" + strangersClient}
	}
	return []string{strangersClient}
}

// onRequest points out what the keys of a request show.
func (a *adviser) onRequest(x Exchange, policies []core.Policy, units []core.Units) {
	if a.looked.Load() >= mostLooked {
		return
	}
	a.looked.Add(1)
	if len(x.Header("X-Forwarded-For")) == 0 && len(x.Header("Forwarded")) == 0 {
		return
	}
	peer, err := netip.ParseAddrPort(x.Peer())
	if addr := peer.Addr().Unmap(); err != nil || !addr.IsPrivate() && !addr.IsLoopback() {
		return
	}
	key, err := a.peer.Key(x)
	for i := range units {
		if err == nil && !units[i].Skip && units[i].Key == key {
			a.tell(ForwardedUnread, policies[i].Name)
		}
	}
}

// onPassed is for a request of which no policy is asked: those that have a key were
// charged by an outer middleware.
func (a *adviser) onPassed(policies []core.Policy, units []core.Units) {
	for i := range units {
		if units[i].Key != "" {
			a.tell(MountedTwice, policies[i].Name)
		}
	}
}

// onRefused points out what no wait can mend though the limit is open.
func (a *adviser) onRefused(r *core.Result) {
	if !r.Never {
		return
	}
	for i := range r.Len() {
		if ask := r.Ask(i); ask.Never && ask.Terms.Capacity > 0 {
			a.tell(CostAboveLimit, ask.Terms.Policy)
		}
	}
}
