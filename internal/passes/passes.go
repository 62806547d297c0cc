// Package passes counts, from the outside, how many requests were admitted in a window.
package passes

import (
	"slices"
	"time"
)

// Pass is a request that was admitted. It was decided between the two times.
type Pass struct{ Asked, Answered time.Time }

// Most is the most that were surely decided within one window, of all windows that begin
// when one of them was asked. It sorts the passes by that time. A store holds a unit for
// a whole window by a clock of microseconds, so the window is one short of it.
func Most(passes []Pass, window time.Duration) (most int) {
	slices.SortFunc(passes, func(a, b Pass) int { return a.Asked.Compare(b.Asked) })
	for i, first := range passes {
		end, count := first.Asked.Add(window-time.Microsecond), 0
		for _, p := range passes[i:] {
			if p.Asked.After(end) {
				break
			}
			if !p.Answered.After(end) {
				count++
			}
		}
		most = max(most, count)
	}
	return most
}
