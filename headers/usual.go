package headers

import (
	"strconv"

	"github.com/ratelimit-go/ratelimit/core"
)

// appendUsual is what most requests need, without the writer: Draft11 and Classic for
// one policy that admits or will, whose texts are ready. Whatever else is not ok.
func (f *Format) appendUsual(dst []Field, a *core.Ask) (fields []Field, ok bool) {
	if len(f.ready) != 1 || !f.ready[0].are(a.Terms) || a.Terms.DryRun || a.Never || a.Terms.Limit.IsUnlimited() {
		return dst, false
	}
	t := f.ready[0]
	var room [64]byte
	b := append(room[:0], t.state11...)
	from := len(b)
	b = appendInteger(b, a.Remaining)
	to := len(b)
	b = append(b, ";t="...)
	reset := len(b)
	b = appendInteger(b, seconds(after(a)))
	state := string(b)
	for _, dialect := range f.dialects {
		if dialect == Draft11 {
			dst = append(dst, Field{policyList, t.policy11}, Field{stateList, state})
			continue
		}
		dst = append(dst, Field{limitField, t.capacity}, Field{remainField, state[from:to]}, Field{resetField, state[reset:]})
	}
	return dst, true
}

// appendInteger writes n, cut to what a structured field can hold.
func appendInteger(dst []byte, n int64) []byte {
	return strconv.AppendInt(dst, min(max(n, 0), maxInteger), 10)
}
