package headers

import (
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// What is made ready at start-up changes no field, whatever was decided, and of
// whom: also where a limit was chosen for the request, or the result is of others.
func TestReadyTextsChangeNothing(t *testing.T) {
	odd := core.PerSecond(10).TokenBucket(15).Named(`o"d`)
	other := core.PerMinute(7).Named("ip") // the name with another limit
	for _, policies := range [][]core.Policy{{ip}, {odd}, {ip.AsDryRun()}, {ip, day}, {odd, bucket, ip}} {
		var results []*core.Result
		for _, remaining := range []int64{-1, 0, 9, 1 << 62} {
			for _, wait := range []time.Duration{0, 1, time.Second, time.Hour + 1} {
				yes, no, hopeless := decisions(policies, remaining, wait)
				results = append(results, result(t, yes...), result(t, no...), result(t, hopeless...))
			}
		}
		results = append(results, result(t, admitted(other, 3, time.Second)), result(t, unlimited()), result(t, blocked()),
			result(t, admitted(ip, 3, time.Second), admitted(other.Named("b"), 2, time.Second), admitted(day, 1, 0)))
		for _, dialects := range [][]Dialect{nil, {Draft11}, {Classic}, {Classic, Draft11}, {Draft06}, {Draft07, Classic}, {XSeconds, Draft11}, {XEpoch}, {None}} {
			plain, err := New(dialects...)
			if err != nil {
				t.Fatal(err)
			}
			ready := plain.For(policies...)
			for _, r := range results {
				want, got := lines(plain.Append(nil, now, r)), lines(ready.Append(nil, now, r))
				if got != want {
					t.Errorf("%v, %v: ready\n%s\nplain\n%s", dialects, r.Decisions(), got, want)
				}
				want, got = lines(plain.Append(nil, now, results[0], r)), lines(ready.Append(nil, now, results[0], r))
				if got != want {
					t.Errorf("%v, nested %v: ready\n%s\nplain\n%s", dialects, r.Decisions(), got, want)
				}
			}
		}
	}
}

func decisions(policies []core.Policy, remaining int64, wait time.Duration) (yes, no, hopeless []decided) {
	for _, p := range policies {
		yes = append(yes, admitted(p, remaining, wait))
		no = append(no, refused(p, remaining, wait, 2*wait))
		hopeless = append(hopeless, never(p, remaining, wait))
	}
	return yes, no, hopeless
}

func TestReadyTextsSpareAllocations(t *testing.T) {
	f, err := New()
	if err != nil {
		t.Fatal(err)
	}
	f = f.For(ip)
	r := result(t, admitted(ip, 99, time.Minute))
	var room [5]Field
	if n := testing.AllocsPerRun(100, func() { f.Append(room[:0], now, r) }); n > 1 {
		t.Errorf("%v allocations, want 1 for the text", n)
	}
}
