package debug

import (
	"context"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/metrics/tally"
)

// Policy is a policy in force, as it is shown.
type Policy struct {
	// ID is the policy's name, with a number where another store has it too.
	ID string `json:"policy"`
	// Limit is its limit, as in "100/minute"; PerRequest that another may be chosen
	// for each request.
	Limit      string `json:"limit"`
	PerRequest bool   `json:"limit_per_request,omitempty"`
	// Algorithm decides.
	Algorithm string `json:"algorithm"`
	// OnExcess is "refuse", "hold", "degrade" or "report" (a dry run).
	OnExcess string `json:"on_excess"`
}

func (e *entry) show() Policy {
	p := e.policy
	shown := Policy{ID: e.id, Limit: p.Limit.String(), PerRequest: p.LimitFor != nil, Algorithm: p.Algorithm.String(), OnExcess: "refuse"}
	switch {
	case p.DryRun:
		shown.OnExcess = "report"
	case p.OnExcess == core.Hold:
		shown.OnExcess = "hold"
	case p.OnExcess == core.Degrade:
		shown.OnExcess = "degrade"
	}
	return shown
}

// Client is one of the most refused clients, as it is shown: tally.Client says what
// the numbers are.
type Client struct {
	// Policy and Hash find it.
	Policy string `json:"policy"`
	Hash   string `json:"client"`
	// Key is there on request.
	Key string `json:"key,omitempty"`
	// Refused and Passed are its recent requests.
	Refused int64 `json:"refused"`
	Passed  int64 `json:"passed"`
}

func (h *Handler) clients(k int) []Client {
	shown := []Client{}
	for _, c := range h.Heaviest(k) {
		one := Client{Policy: c.Policy, Hash: c.Hash, Refused: c.Refused, Passed: c.Passed}
		if h.options.ShowKeys {
			one.Key = c.Key
		}
		shown = append(shown, one)
	}
	return shown
}

// Report is what a client has used of a policy, and what a request of one unit
// meets now.
type Report struct {
	Policy
	// Hash is the client's, as in the list and in the log.
	Hash string `json:"client"`
	// Capacity is the most units at once, Remaining what is left of it, Used the
	// rest.
	Capacity  int64 `json:"capacity"`
	Used      int64 `json:"used"`
	Remaining int64 `json:"remaining"`
	// Allowed: it passes now. Never: it never will.
	Allowed bool `json:"allowed"`
	Never   bool `json:"never,omitempty"`
	// RetryAt is when it would pass, ResetAt when the client is as if never seen,
	// BlockedUntil when a block ends. Absent where there is nothing to wait for.
	RetryAt      *time.Time `json:"retry_at,omitempty"`
	ResetAt      *time.Time `json:"reset_at,omitempty"`
	BlockedUntil *time.Time `json:"blocked_until,omitempty"`
	// Why says it in a sentence.
	Why string `json:"why"`
}

// report asks the store twice, and charges nothing.
func (e *entry) report(ctx context.Context, key string, limit core.Limit) (*Report, error) {
	peek, err := e.limiter.Decide(ctx, []core.Units{{Key: key, Limit: limit}})
	if err != nil {
		return nil, err
	}
	trial, err := e.trial.Decide(ctx, []core.Units{{Key: key, Cost: 1, Limit: limit}, {Key: key, Cost: 1}})
	if err != nil {
		return nil, err
	}
	now := time.Now()
	used, meets := peek.Decision(0), trial.Decision(0)
	r := &Report{
		Policy: e.show(), Hash: tally.KeyHash(key), Capacity: used.Capacity, Remaining: used.Remaining, Used: used.Capacity - used.Remaining,
		Allowed: meets.Allowed, Never: meets.Never,
		RetryAt: after(now, meets.RetryAfter), ResetAt: after(now, used.ResetAfter),
	}
	r.Limit = used.Limit.String()
	if !used.Allowed { // asking for nothing, only a block refuses
		r.BlockedUntil = after(now, used.RetryAfter)
	}
	r.Why = r.why()
	if r.PerRequest && limit == (core.Limit{}) {
		r.Why += " (By the policy's own limit: requests may have another, which can be given as limit.)"
	}
	return r, nil
}

func after(now time.Time, wait time.Duration) *time.Time {
	if wait <= 0 {
		return nil
	}
	at := now.Add(wait).UTC().Round(time.Millisecond)
	return &at
}

func (r *Report) why() string {
	switch {
	case r.BlockedUntil != nil:
		return "The client is blocked until " + r.BlockedUntil.Format(time.RFC3339) + "."
	case r.Never:
		return "The limit admits nothing."
	case r.Allowed && r.Used == 0:
		return "The client has used nothing: a request passes."
	case r.Allowed:
		return "A request passes: the client has not used up its limit."
	case r.RetryAt == nil:
		return "A request does not pass now."
	}
	return "The client has used up its limit: a request passes from " + r.RetryAt.Format(time.RFC3339) + "."
}
