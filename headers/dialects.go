package headers

import "time"

// The dialects: each method writes its fields. The numbers of the binding policy
// are written once, wherever they come first, and shared.

func (w *writer) write(d Dialect) {
	switch d {
	case Draft11:
		w.draft11()
	case Classic:
		w.classic()
	case Draft06:
		w.draft06()
	case Draft07:
		w.draft07()
	case XSeconds:
		w.xSeconds()
	case XEpoch:
		w.xEpoch()
	}
}

func (w *writer) draft11() {
	w.list(policyList, func(t *texts) string { return t.policy11 })
	from := len(w.text)
	for i := range w.items {
		w.separate(from)
		w.state11(&w.items[i])
	}
	w.field(stateList, span{from, len(w.text)})
}

// state11 is "name";r=99;t=60.
func (w *writer) state11(p *item) {
	remaining, reset := w.number(p.state11, p.remaining), span{}
	if !p.never {
		reset = w.number(";t=", seconds(p.after))
	}
	if p == w.binding {
		w.remaining, w.reset = remaining, reset
	}
}

func (w *writer) classic() {
	w.limits(limitField, remainField)
	if !w.binding.never {
		w.field(resetField, w.resetSeconds())
	}
}

func (w *writer) draft06() {
	w.limits(limitField, remainField)
	w.field(resetField, w.integer(w.requiredReset()))
	w.policies06()
}

// policies06 is 100;w=60, 1000;w=3600. The window is required, so that a blocked
// policy, which has none, is left out.
func (w *writer) policies06() {
	w.list(policyList, func(t *texts) string { return t.policy06 })
}

// draft07 has RateLimit: limit=100, remaining=99, reset=60.
func (w *writer) draft07() {
	w.policies06()
	from := len(w.text)
	w.text = append(append(w.text, "limit="...), w.binding.capacity...)
	w.remaining = w.number(", remaining=", w.binding.remaining)
	w.number(", reset=", w.requiredReset())
	w.field(stateList, span{from, len(w.text)})
}

func (w *writer) xSeconds() {
	w.limits(xLimitField, xRemainField)
	if !w.binding.never {
		w.field(xResetField, w.resetSeconds())
	}
}

func (w *writer) xEpoch() {
	w.limits(xLimitField, xRemainField)
	if w.binding.never {
		return
	}
	now := w.now
	if now.IsZero() {
		now = time.Now()
	}
	at := now.Add(w.binding.after)
	epoch := at.Unix()
	if at.Nanosecond() > 0 {
		epoch++
	}
	w.field(xResetField, w.integer(epoch))
}

// limits are the capacity and what remains of the binding policy.
func (w *writer) limits(limitName, remainingName string) {
	if w.remaining.empty() {
		w.remaining = w.integer(w.binding.remaining)
	}
	w.constant(limitName, w.binding.capacity)
	w.field(remainingName, w.remaining)
}

// resetSeconds is the wait or the reset of the binding policy.
func (w *writer) resetSeconds() span {
	if w.reset.empty() {
		w.reset = w.integer(seconds(w.binding.after))
	}
	return w.reset
}

// requiredReset is for the dialects that must have a reset even where no wait
// helps: then it is the time until the key is as if never seen.
func (w *writer) requiredReset() int64 {
	if w.binding.never {
		return seconds(w.binding.reset)
	}
	return seconds(w.binding.after)
}
