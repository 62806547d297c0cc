package storetest

import (
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
)

// RunSafety is the half of the suite that holds for stores which may refuse early,
// such as one that leases units: never more is admitted than a policy allows, and
// keys share nothing. The policies must hold a capacity of 100 at least, and refill
// none of it while the test runs.
func RunSafety(t *testing.T, open Open, policies ...core.Policy) {
	for _, p := range policies {
		t.Run(p.Name, func(t *testing.T) {
			limiter, err := core.NewLimiter(open(t), p)
			if err != nil {
				t.Fatal(err)
			}
			terms, err := p.Terms(p.Limit)
			if err != nil {
				t.Fatal(err)
			}
			for _, key := range []string{"one", "other"} {
				admitted := crowd(t, limiter, int(terms.Capacity)*3/2, key)
				if int64(admitted) > terms.Capacity || admitted == 0 {
					t.Errorf("%d admitted at a capacity of %d", admitted, terms.Capacity)
				}
			}
			r, err := limiter.TakeN(t.Context(), terms.Capacity+1, "one")
			if err != nil || r.Allowed || !r.Never {
				t.Errorf("a cost above the capacity: %+v, %v", r, err)
			}
		})
	}
}
