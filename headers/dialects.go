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
	from := len(w.buf)
	for i := range w.items {
		w.separate(from)
		w.policy11(&w.items[i])
	}
	w.listed(policyList, from)
	from = len(w.buf)
	for i := range w.items {
		w.separate(from)
		w.state11(&w.items[i])
	}
	w.listed(stateList, from)
}

// policy11 is "name";q=100;w=60.
func (w *writer) policy11(p *item) {
	w.quoted(p.name)
	quota := w.number(";q=", p.capacity)
	if p == w.binding {
		w.limit = quota
	}
	if window, exact := p.window(); exact {
		w.number(";w=", window)
	}
}

// state11 is "name";r=99;t=60.
func (w *writer) state11(p *item) {
	w.quoted(p.name)
	remaining, reset := w.number(";r=", p.remaining), span{}
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
	from := len(w.buf)
	for i := range w.items {
		window, _ := w.items[i].window()
		if window == 0 {
			continue
		}
		w.separate(from)
		w.integer(w.items[i].capacity)
		w.number(";w=", window)
	}
	w.listed(policyList, from)
}

// draft07 has RateLimit: limit=100, remaining=99, reset=60.
func (w *writer) draft07() {
	w.policies06()
	from := len(w.buf)
	w.limit = w.number("limit=", w.binding.capacity)
	w.remaining = w.number(", remaining=", w.binding.remaining)
	w.number(", reset=", w.requiredReset())
	w.field(stateList, span{from, len(w.buf)})
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
	if w.limit.empty() {
		w.limit = w.integer(w.binding.capacity)
	}
	if w.remaining.empty() {
		w.remaining = w.integer(w.binding.remaining)
	}
	w.field(limitName, w.limit)
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
