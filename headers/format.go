package headers

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// ErrDialects is wrapped by the error of [New] about dialects that do not go
// together.
var ErrDialects = errors.New("ratelimit: header dialects")

// Field is one line of a response's header.
type Field struct {
	// Name is in the canonical form of net/http: "Ratelimit-Policy".
	Name string
	// Value is printable ASCII.
	Value string
}

// Dialect is a set of header fields in one syntax.
type Dialect uint8

const (
	// Draft11 is RateLimit-Policy and RateLimit in the syntax of
	// draft-ietf-httpapi-ratelimit-headers-11 (the same since -08): lists of all
	// policies.
	Draft11 Dialect = iota
	// Classic is RateLimit-Limit, RateLimit-Remaining and RateLimit-Reset, the last
	// in seconds from now.
	Classic
	// Draft06 is the three classic fields and RateLimit-Policy in the syntax of the
	// drafts -04 to -06.
	Draft06
	// Draft07 is RateLimit and RateLimit-Policy in the syntax of the draft -07.
	Draft07
	// XSeconds is X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset,
	// the last in seconds from now.
	XSeconds
	// XEpoch is the same with GitHub's reset: in seconds since the Unix epoch.
	XEpoch
	// None is no field. It stands alone.
	None
)

// String is the dialect's name, as in "draft-11".
func (d Dialect) String() string {
	if int(d) >= len(dialects) {
		return "dialect " + strconv.Itoa(int(d))
	}
	return dialects[d].name
}

// The names of the fields, in the canonical form of net/http.
const (
	policyList   = "Ratelimit-Policy"
	stateList    = "Ratelimit"
	limitField   = "Ratelimit-Limit"
	remainField  = "Ratelimit-Remaining"
	resetField   = "Ratelimit-Reset"
	xLimitField  = "X-Ratelimit-Limit"
	xRemainField = "X-Ratelimit-Remaining"
	xResetField  = "X-Ratelimit-Reset"
)

// dialects are in the order of the constants.
var dialects = [...]struct {
	name   string
	fields []string
}{
	Draft11:  {"draft-11", []string{policyList, stateList}},
	Classic:  {"classic", []string{limitField, remainField, resetField}},
	Draft06:  {"draft-06", []string{limitField, remainField, resetField, policyList}},
	Draft07:  {"draft-07", []string{policyList, stateList}},
	XSeconds: {"x-seconds", []string{xLimitField, xRemainField, xResetField}},
	XEpoch:   {"x-epoch", []string{xLimitField, xRemainField, xResetField}},
	None:     {"none", nil},
}

// Format writes the fields of the dialects that it was made for. It is safe for
// concurrent use. The zero Format writes none.
type Format struct {
	dialects []Dialect
	names    []string
	usual    bool     // the dialects are Draft11, Classic or both
	ready    []*texts // of the policies of [Format.For]
}

// New makes a Format of one or more dialects; of none given, of [Draft11] and
// [Classic]. Dialects that give one field two meanings are refused: the error wraps
// [ErrDialects] and names the field.
func New(chosen ...Dialect) (*Format, error) {
	if len(chosen) == 0 {
		chosen = []Dialect{Draft11, Classic}
	}
	f := &Format{}
	owner := map[string]Dialect{}
	for _, d := range chosen {
		switch {
		case int(d) >= len(dialects):
			return nil, fmt.Errorf("%w: %v: give one of the constants", ErrDialects, d)
		case d == None && len(chosen) > 1:
			return nil, fmt.Errorf("%w: none stands alone: leave it or the others out", ErrDialects)
		case d == None:
			return f, nil
		}
		for _, name := range dialects[d].fields {
			if other, taken := owner[name]; taken {
				return nil, fmt.Errorf("%w: %v and %v both write %s: choose one", ErrDialects, other, d, name)
			}
			owner[name] = d
			f.names = append(f.names, name)
		}
		f.dialects = append(f.dialects, d)
	}
	f.usual = !slices.ContainsFunc(f.dialects, func(d Dialect) bool { return d > Classic })
	return f, nil
}

// Names are the fields that the Format may write, in canonical form: what to clear
// before fields are written anew, and what to list in Access-Control-Expose-Headers
// beside Retry-After.
func (f *Format) Names() []string { return append([]string(nil), f.names...) }

// Append appends the fields that tell of the results, and returns the longer slice.
// Where middlewares are nested, give the results of all of them so far, outermost
// first: a policy that is in several is named once, as its tightest decision, and
// the single values are those of the tightest policy of all. Without a policy to
// show there is no field. Only [XEpoch] uses now; zero is the present.
func (f *Format) Append(dst []Field, now time.Time, results ...*core.Result) []Field {
	if len(f.dialects) == 0 {
		return dst
	}
	if f.usual && len(results) == 1 && results[0].Len() == 1 {
		if fields, ok := f.appendUsual(dst, results[0].Ask(0)); ok {
			return fields
		}
	}
	w := writers.Get().(*writer)
	defer writers.Put(w)
	w.items = f.collect(w.items[:0], results)
	if len(w.items) == 0 {
		return dst
	}
	w.begin(now)
	for _, d := range f.dialects {
		w.write(d)
	}
	return w.appendFields(dst)
}
