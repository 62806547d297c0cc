package headers

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestDialectsThatClashAreRefused(t *testing.T) {
	for _, c := range []struct {
		chosen []Dialect
		says   []string // empty: they go together
	}{
		{nil, nil},
		{[]Dialect{None}, nil},
		{[]Dialect{Draft11, Classic, XSeconds}, nil},
		{[]Dialect{Draft11, Classic, XEpoch}, nil},
		{[]Dialect{Draft07, Classic, XEpoch}, nil},
		{[]Dialect{Draft06, XEpoch}, nil},
		{[]Dialect{Draft11, Draft07}, []string{"draft-11", "draft-07", "Ratelimit-Policy"}},
		{[]Dialect{Draft11, Draft06}, []string{"draft-11", "draft-06", "Ratelimit-Policy"}},
		{[]Dialect{Draft06, Draft07}, []string{"draft-06", "draft-07", "Ratelimit-Policy"}},
		{[]Dialect{Classic, Draft06}, []string{"classic", "draft-06", "Ratelimit-Limit"}},
		{[]Dialect{XSeconds, XEpoch}, []string{"x-seconds", "x-epoch", "X-Ratelimit-Limit"}},
		{[]Dialect{Classic, Classic}, []string{"classic", "Ratelimit-Limit"}},
		{[]Dialect{None, Classic}, []string{"none", "alone"}},
		{[]Dialect{Classic, None}, []string{"none", "alone"}},
		{[]Dialect{Dialect(99)}, []string{"dialect 99"}},
	} {
		f, err := New(c.chosen...)
		if len(c.says) == 0 {
			if err != nil {
				t.Errorf("%v: %v", c.chosen, err)
			}
			continue
		}
		if f != nil || !errors.Is(err, ErrDialects) {
			t.Errorf("%v: %v, want ErrDialects", c.chosen, err)
			continue
		}
		for _, word := range c.says {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%v: %q does not say %q", c.chosen, err, word)
			}
		}
	}
}

func TestNamesAreAllThatIsWritten(t *testing.T) {
	r := result(t, admitted(ip, 9, time.Second))
	for d := Draft11; d <= None; d++ {
		f, err := New(d)
		if err != nil {
			t.Fatal(err)
		}
		var written []string
		for _, field := range f.Append(nil, now, r) {
			written = append(written, field.Name)
			if field.Name != http.CanonicalHeaderKey(field.Name) {
				t.Errorf("%v: %s is not canonical", d, field.Name)
			}
		}
		names := f.Names()
		slices.Sort(names)
		slices.Sort(written)
		if !slices.Equal(names, written) {
			t.Errorf("%v: names %v, written %v", d, names, written)
		}
	}
	if got := new(Format).Append(nil, now, r); got != nil {
		t.Errorf("the zero Format writes %v", got)
	}
}
