package linearizable

import (
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/ratelimit-go/ratelimit/core"
)

// input is what was done with a key.
type input struct {
	kind   kind
	key    string
	now    int64       // the time that was given, microseconds
	cost   int64       // of a take; what a charge that is settled really cost
	charge core.Answer // what is settled
}

type kind int

const (
	takes kind = iota
	settles
	resets
	crash // the server was killed and started again: it has forgotten all keys
)

// output is what came of it. Of what has no answer, nobody knows whether it was done.
type output struct {
	known  bool
	answer core.Answer
}

// modelOf is the model of an algorithm. Exact histories are given their times, and every
// value of an answer is compared; others have none: they are short, in a period so long
// that nothing comes back, and only what is counted is compared.
func modelOf(a *algorithm, exact bool) porcupine.Model {
	model := porcupine.NondeterministicModel{
		Partition: byKey,
		Init:      func() []any { return []any{state{}} },
		Step: func(from, in, out any) []any {
			var then []any
			for _, s := range a.steps(from.(state), in.(input), out.(output), exact) {
				then = append(then, s)
			}
			return then
		},
		Equal: func(x, y any) bool {
			one, other := x.(state), y.(state)
			return one.since == other.since && one.used == other.used && one.turn == other.turn && slices.Equal(one.marks, other.marks)
		},
		DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v -> %+v", in, out) },
	}
	return model.ToModel()
}

// steps are the states that can follow.
func (a *algorithm) steps(s state, in input, out output, exact bool) []state {
	switch in.kind {
	case crash:
		return []state{{}}
	case resets:
		return s.after(state{}, out.known)
	case settles:
		return s.after(a.settle(s, in.now, in.charge, in.cost), out.known)
	}
	answer, then := a.take(s, in.now, in.cost)
	if answer.Charged > 0 {
		then.turn = out.answer.Turn // only the store numbers them
	}
	if out.known && !agree(answer, out.answer, exact) {
		return nil
	}
	return s.after(then, out.known)
}

// after is the state that follows; where it is not known whether, either.
func (s state) after(then state, known bool) []state {
	if known {
		return []state{then}
	}
	return []state{s, then}
}

func agree(model, real core.Answer, exact bool) bool {
	if !exact {
		return model.Allowed == real.Allowed && model.Remaining == real.Remaining && model.Charged == real.Charged
	}
	model.Turn = real.Turn
	return model == real
}

// byKey takes a history apart: keys have nothing to do with each other, and a crash is of
// all.
func byKey(history []porcupine.Operation) [][]porcupine.Operation {
	parts := map[string][]porcupine.Operation{}
	for _, o := range history {
		if in := o.Input.(input); in.kind != crash {
			parts[in.key] = append(parts[in.key], o)
		}
	}
	var all [][]porcupine.Operation
	for _, part := range parts {
		for _, o := range history {
			if o.Input.(input).kind == crash {
				part = append(part, o)
			}
		}
		all = append(all, part)
	}
	return all
}
