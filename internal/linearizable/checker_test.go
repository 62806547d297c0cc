package linearizable

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ratelimit-go/ratelimit/core"
)

// inTurn is a history of one client, the same in every run, in which each operation
// overlaps the next one.
func inTurn(t *testing.T, a *algorithm, exact bool) []porcupine.Operation {
	r := newRecorder(t, a)
	r.exact = exact
	random := rand.New(rand.NewPCG(1, 2))
	r.act(0, newMemory(t), []string{"k"}, random)
	for i := range r.history {
		r.history[i].Call, r.history[i].Return = int64(10*i), int64(10*i+15)
	}
	return r.history
}

// find is where an operation is of which something holds.
func find(t *testing.T, history []porcupine.Operation, holds func(core.Answer) bool) int {
	t.Helper()
	at := slices.IndexFunc(history, func(o porcupine.Operation) bool {
		return o.Input.(input).kind == takes && holds(o.Output.(output).answer)
	})
	if at < 0 {
		t.Fatal("the history has no such operation")
	}
	return at
}

func isCharged(r core.Answer) bool { return r.Charged > 0 }
func isRefused(r core.Answer) bool { return !r.Allowed && !r.Never }

// lie is a change of one answer that no order can explain.
type lie struct {
	of        func(core.Answer) bool
	change    func(in input, r *core.Answer)
	exactOnly bool
}

// told is a history with the lie in it.
func (l lie) told(t *testing.T, history []porcupine.Operation) []porcupine.Operation {
	t.Helper()
	history = slices.Clone(history)
	o := &history[find(t, history, l.of)]
	out := o.Output.(output)
	l.change(o.Input.(input), &out.answer)
	o.Output = out
	return history
}

var lies = map[string]lie{
	"one more is admitted": {isRefused, func(in input, r *core.Answer) {
		*r = core.Answer{Allowed: true, Charged: in.cost, ChargedAt: in.now, ResetAfter: r.ResetAfter, Turn: 1}
	}, false},
	"one is refused that fits": {isCharged, func(_ input, r *core.Answer) {
		*r = core.Answer{Remaining: r.Remaining + r.Charged, RetryAfter: time.Second, ResetAfter: r.ResetAfter}
	}, false},
	"one unit more remains":          {isCharged, func(_ input, r *core.Answer) { r.Remaining++ }, false},
	"one unit less is charged":       {isCharged, func(_ input, r *core.Answer) { r.Charged-- }, false},
	"the wait is a microsecond less": {isRefused, func(_ input, r *core.Answer) { r.RetryAfter -= time.Microsecond }, true},
	"the reset is one later":         {isCharged, func(_ input, r *core.Answer) { r.ResetAfter += time.Microsecond }, true},
	"the charge is one earlier":      {isCharged, func(_ input, r *core.Answer) { r.ChargedAt-- }, true},
}

// withoutACharge leaves out a request whose charge stays.
func withoutACharge(t *testing.T, history []porcupine.Operation) []porcupine.Operation {
	t.Helper()
	for i, o := range history[:len(history)-1] {
		if o.Output.(output).answer.Charged > 0 && history[i+1].Input.(input).kind != settles {
			return slices.Concat(history[:i], history[i+1:])
		}
	}
	t.Fatal("every charge is settled")
	return nil
}

// The checker accepts what was decided, and rejects it with one lie in it.
func TestTheCheckerKnowsALie(t *testing.T) {
	for period, exact := range map[time.Duration]bool{short: true, long: false} {
		for _, a := range algorithms(period) {
			t.Run(fmt.Sprintf("%s, exact: %v", a.Name, exact), func(t *testing.T) {
				model, history := modelOf(a, exact), inTurn(t, a, exact)
				check(t, model, history)
				reject(t, "a charge that nobody asked for", model, withoutACharge(t, history))
				for name, l := range lies {
					if exact || !l.exactOnly {
						reject(t, name, model, l.told(t, history))
					}
				}
			})
		}
	}
}

// A store may forget where it crashes, and only there and once.
func TestTheCheckerKnowsWhatIsForgotten(t *testing.T) {
	for _, a := range algorithms(long) {
		t.Run(a.Name, func(t *testing.T) {
			model := modelOf(a, false)
			life := func(number int64) []porcupine.Operation {
				return shift(inTurn(t, a, false), number*10_000)
			}
			crashed := porcupine.Operation{Input: input{kind: crash}, Output: output{known: true}, Call: 9_000, Return: 9_001}
			check(t, model, slices.Concat(life(0), []porcupine.Operation{crashed}, life(1)))
			reject(t, "forgotten for no reason", model, slices.Concat(life(0), life(1)))
			reject(t, "forgotten twice", model, slices.Concat(life(0), []porcupine.Operation{crashed}, life(1), life(2)))
		})
	}
}

func shift(history []porcupine.Operation, by int64) []porcupine.Operation {
	for i := range history {
		history[i].Call += by
		history[i].Return += by
	}
	return history
}

// What has no answer was done once, at any time after it was asked for, or never.
func TestTheCheckerKnowsWhatHasNoAnswer(t *testing.T) {
	a := algorithms(long)[0]
	model := modelOf(a, false)
	unanswered := porcupine.Operation{Input: input{cost: 4}, Output: output{}, Call: 0, Return: math.MaxInt64}
	peek := func(call, remaining int64) porcupine.Operation {
		out := output{known: true, answer: core.Answer{Allowed: true, Remaining: remaining}}
		return porcupine.Operation{Input: input{}, Output: out, Call: call, Return: call + 1}
	}
	check(t, model, []porcupine.Operation{unanswered, peek(10, 8), peek(20, 8)})
	check(t, model, []porcupine.Operation{unanswered, peek(10, 8), peek(20, 4)})
	reject(t, "done twice", model, []porcupine.Operation{unanswered, peek(10, 4), peek(20, 0)})
	reject(t, "undone", model, []porcupine.Operation{unanswered, peek(10, 4), peek(20, 8)})
	reject(t, "done before it was asked for", model, []porcupine.Operation{peek(-10, 4), unanswered})
}

func reject(t *testing.T, name string, model porcupine.Model, history []porcupine.Operation) {
	t.Helper()
	if result := porcupine.CheckOperationsTimeout(model, history, patience); result != porcupine.Illegal {
		t.Errorf("%s: %s", name, result)
	}
}
