package tally

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ratelimit-go/ratelimit/pipeline"
)

// Requests tells the number of decisions of each policy, route and kind.
func (t *Tally) Requests(each func(policy, route string, kind Kind, n int64)) {
	for _, s := range *t.series.Load() {
		route := cmp.Or(s.route, Unmatched)
		for kind := range s.results {
			each(s.policy, route, Kind(kind), s.results[kind].Load())
		}
	}
}

// Policies tells what is counted of each policy: the estimated number of its
// clients in the last whole minute, or in the present one where it is more already;
// the histogram of Remaining / Capacity at admission; and that of the share of
// refusals, observed each minute for each client among the most refused.
func (t *Tally) Policies(each func(policy string, active int64, remaining, rejected *Histogram)) {
	t.byName.Range(func(_, known any) bool {
		p := known.(*policy)
		each(p.name, max(p.last.Load(), p.seen.estimate()), p.remaining, p.rejected)
		return true
	})
}

// Undecided is the number of requests that failed, and of those that were denied
// because of their network.
func (t *Tally) Undecided() (failed, denied int64) { return t.failed.Load(), t.denied.Load() }

// Held is the histogram of the times that requests were held, in seconds.
func (t *Tally) Held() *Histogram { return t.held }

// Answered is the histogram of the times that stores outside took, in seconds.
func (t *Tally) Answered() *Histogram { return t.answered }

// StoreErrors tells the number of the stores' errors of each kind.
func (t *Tally) StoreErrors(each func(kind string, n int64)) {
	t.errors.Range(func(kind, n any) bool {
		each(kind.(string), n.(*atomic.Int64).Load())
		return true
	})
}

// Advice tells for every advice how often it was given.
func (t *Tally) Advice(each func(advice pipeline.Advice, n int64)) {
	for _, advice := range pipeline.AllAdvice() {
		each(advice, load(&t.advice, advice))
	}
}

func load(counts *sync.Map, key any) int64 {
	if n, ok := counts.Load(key); ok {
		return n.(*atomic.Int64).Load()
	}
	return 0
}

// Client is one of the most refused.
type Client struct {
	// Policy is the policy's name.
	Policy string
	// Key is whom it is counted against, which may be a secret: do not show it
	// unless its owner wants to. "" where it is longer than 256 bytes.
	Key string
	// Hash is the key's [KeyHash].
	Hash string
	// Refused and Passed are its requests since its first refusal, each minute's
	// counting half as much as the next's. Refused may be too high by what the client
	// had whose place it took.
	Refused, Passed int64
}

// Heaviest are the k most refused clients of all policies, the most refused first.
func (t *Tally) Heaviest(k int) []Client {
	var all []Client
	t.byName.Range(func(_, known any) bool {
		p := known.(*policy)
		all = p.clients.list(p.name, all)
		return true
	})
	slices.SortFunc(all, func(a, b Client) int {
		return cmp.Or(cmp.Compare(b.Refused, a.Refused), cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Hash, b.Hash))
	})
	return all[:min(max(k, 0), len(all))]
}
