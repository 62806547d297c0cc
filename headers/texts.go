package headers

import (
	"strconv"

	"github.com/ratelimit-go/ratelimit/core"
)

// texts are the parts of the fields that a policy and its limit alone decide.
type texts struct {
	policy   string // the name
	limit    core.Limit
	capacity string // 100
	policy11 string // "name";q=100;w=60
	policy06 string // 100;w=60, empty without a window
	state11  string // "name";r=
}

// textsOf makes the texts of what was decided.
func textsOf(policy string, limit core.Limit, capacity int64) *texts {
	quoted := string(appendQuoted(nil, policy))
	t := &texts{
		policy: policy, limit: limit, capacity: strconv.FormatInt(min(capacity, maxInteger), 10),
		state11: quoted + ";r=",
	}
	t.policy11 = quoted + ";q=" + t.capacity
	seconds, exact := window(limit, capacity)
	if seconds == 0 {
		return t
	}
	w := ";w=" + strconv.FormatInt(seconds, 10)
	t.policy06 = t.capacity + w
	if exact {
		t.policy11 += w
	}
	return t
}

// For makes a copy of the Format that has ready what these policies say whatever is
// decided. It writes the same fields, and does so faster for the results of a
// limiter that has these policies in this order.
func (f *Format) For(policies ...core.Policy) *Format {
	ready := *f
	ready.ready = make([]*texts, len(policies))
	for i, p := range policies {
		if terms, err := p.Terms(p.Limit); err == nil {
			ready.ready[i] = textsOf(terms.Policy, terms.Limit, terms.Capacity)
		}
	}
	return &ready
}

// texts are those of the i-th decision of a result, ready or not.
func (f *Format) texts(i int, t *core.Terms) *texts {
	if i < len(f.ready) && f.ready[i].are(t) {
		return f.ready[i]
	}
	return textsOf(t.Policy, t.Limit, t.Capacity)
}

// are reports whether the texts are those of a decision by the terms.
func (t *texts) are(terms *core.Terms) bool {
	return t != nil && t.limit == terms.Limit && t.policy == terms.Policy
}
