package tally

import (
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

// View is a Tally as a package holds it that shows one: its own, which it has count
// what it observes, or one that it was given, which is an observer itself.
type View struct {
	*Tally
	own bool
}

// NewView makes a View of a Tally, or where it is nil of one made by the options.
func NewView(given *Tally, o Options) View {
	if given != nil {
		return View{given, false}
	}
	return View{New(o), true}
}

// Decided implements [pipeline.Observer].
func (v View) Decided(route string, r *core.Result, outcome pipeline.Outcome, held time.Duration) {
	if v.own {
		v.Tally.Decided(route, r, outcome, held)
	}
}

// StoreAnswered implements [pipeline.Observer].
func (v View) StoreAnswered(took time.Duration, err error) {
	if v.own {
		v.Tally.StoreAnswered(took, err)
	}
}

// Mounted implements [pipeline.MountObserver].
func (v View) Mounted(m pipeline.Mount) { v.Tally.Mounted(m) }

// Advised implements [pipeline.AdviceObserver].
func (v View) Advised(advice pipeline.Advice) {
	if v.own {
		v.Tally.Advised(advice)
	}
}
