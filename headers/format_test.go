package headers

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

var (
	ip     = core.PerMinute(100).Named("ip")
	day    = core.PerDay(5000).Named("day")
	bucket = core.PerSecond(10).TokenBucket(100).Named("key")
	now    = time.Unix(1_700_000_000, 0)
)

// lines are fields as a client sees them.
func lines(fields []Field) string {
	var all []string
	for _, f := range fields {
		all = append(all, f.Name+": "+f.Value)
	}
	return strings.Join(all, "\n")
}

func write(t *testing.T, dialects []Dialect, results ...*core.Result) string {
	t.Helper()
	f, err := New(dialects...)
	if err != nil {
		t.Fatal(err)
	}
	return lines(f.Append(nil, now, results...))
}

func TestEveryDialect(t *testing.T) {
	composite := result(t, admitted(ip, 99, 59_500*time.Millisecond), admitted(day, 4998, 86_000*time.Second))
	waiting := result(t, admitted(ip, 7, 30*time.Second), refused(day, 0, 61_001*time.Millisecond, 24*time.Hour))
	hopeless := result(t, never(ip, 57, 12*time.Second))
	for _, c := range []struct {
		name     string
		dialects []Dialect
		result   *core.Result
		want     []string
	}{
		{"draft-11, admitted", []Dialect{Draft11}, composite, []string{
			`Ratelimit-Policy: "ip";q=100;w=60, "day";q=5000;w=86400`,
			`Ratelimit: "ip";r=99;t=60, "day";r=4998;t=86000`}},
		{"draft-11, refused: the wait of who refuses, the reset of the other", []Dialect{Draft11}, waiting, []string{
			`Ratelimit-Policy: "ip";q=100;w=60, "day";q=5000;w=86400`,
			`Ratelimit: "ip";r=7;t=30, "day";r=0;t=62`}},
		{"draft-11, never: no wait", []Dialect{Draft11}, hopeless, []string{
			`Ratelimit-Policy: "ip";q=100;w=60`,
			`Ratelimit: "ip";r=57`}},
		{"classic, admitted", []Dialect{Classic}, composite, []string{
			"Ratelimit-Limit: 100", "Ratelimit-Remaining: 99", "Ratelimit-Reset: 60"}},
		{"classic, refused", []Dialect{Classic}, waiting, []string{
			"Ratelimit-Limit: 5000", "Ratelimit-Remaining: 0", "Ratelimit-Reset: 62"}},
		{"classic, never: no reset", []Dialect{Classic}, hopeless, []string{
			"Ratelimit-Limit: 100", "Ratelimit-Remaining: 57"}},
		{"draft-06, admitted", []Dialect{Draft06}, composite, []string{
			"Ratelimit-Limit: 100", "Ratelimit-Remaining: 99", "Ratelimit-Reset: 60",
			"Ratelimit-Policy: 100;w=60, 5000;w=86400"}},
		{"draft-06, never: the reset is required", []Dialect{Draft06}, hopeless, []string{
			"Ratelimit-Limit: 100", "Ratelimit-Remaining: 57", "Ratelimit-Reset: 12",
			"Ratelimit-Policy: 100;w=60"}},
		{"draft-07, admitted", []Dialect{Draft07}, composite, []string{
			"Ratelimit-Policy: 100;w=60, 5000;w=86400",
			"Ratelimit: limit=100, remaining=99, reset=60"}},
		{"draft-07, refused", []Dialect{Draft07}, waiting, []string{
			"Ratelimit-Policy: 100;w=60, 5000;w=86400",
			"Ratelimit: limit=5000, remaining=0, reset=62"}},
		{"draft-07, never: the reset is required", []Dialect{Draft07}, hopeless, []string{
			"Ratelimit-Policy: 100;w=60",
			"Ratelimit: limit=100, remaining=57, reset=12"}},
		{"x-seconds, admitted", []Dialect{XSeconds}, composite, []string{
			"X-Ratelimit-Limit: 100", "X-Ratelimit-Remaining: 99", "X-Ratelimit-Reset: 60"}},
		{"x-seconds, never: no reset", []Dialect{XSeconds}, hopeless, []string{
			"X-Ratelimit-Limit: 100", "X-Ratelimit-Remaining: 57"}},
		{"x-epoch, admitted: rounded up", []Dialect{XEpoch}, composite, []string{
			"X-Ratelimit-Limit: 100", "X-Ratelimit-Remaining: 99", "X-Ratelimit-Reset: 1700000060"}},
		{"x-epoch, refused", []Dialect{XEpoch}, waiting, []string{
			"X-Ratelimit-Limit: 5000", "X-Ratelimit-Remaining: 0", "X-Ratelimit-Reset: 1700000062"}},
		{"x-epoch, never: no reset", []Dialect{XEpoch}, hopeless, []string{
			"X-Ratelimit-Limit: 100", "X-Ratelimit-Remaining: 57"}},
		{"none", []Dialect{None}, composite, nil},
		{"the default", nil, composite, []string{
			`Ratelimit-Policy: "ip";q=100;w=60, "day";q=5000;w=86400`,
			`Ratelimit: "ip";r=99;t=60, "day";r=4998;t=86000`,
			"Ratelimit-Limit: 100", "Ratelimit-Remaining: 99", "Ratelimit-Reset: 60"}},
		{"the default, refused", nil, waiting, []string{
			`Ratelimit-Policy: "ip";q=100;w=60, "day";q=5000;w=86400`,
			`Ratelimit: "ip";r=7;t=30, "day";r=0;t=62`,
			"Ratelimit-Limit: 5000", "Ratelimit-Remaining: 0", "Ratelimit-Reset: 62"}},
		{"all that go together, never", []Dialect{XEpoch, Classic, Draft11}, hopeless, []string{
			"X-Ratelimit-Limit: 100", "X-Ratelimit-Remaining: 57",
			"Ratelimit-Limit: 100", "Ratelimit-Remaining: 57",
			`Ratelimit-Policy: "ip";q=100;w=60`, `Ratelimit: "ip";r=57`}},
		{"draft-07 and classic", []Dialect{Draft07, Classic}, waiting, []string{
			"Ratelimit-Policy: 100;w=60, 5000;w=86400",
			"Ratelimit: limit=5000, remaining=0, reset=62",
			"Ratelimit-Limit: 5000", "Ratelimit-Remaining: 0", "Ratelimit-Reset: 62"}},
		{"draft-06 and x-seconds", []Dialect{Draft06, XSeconds}, composite, []string{
			"Ratelimit-Limit: 100", "Ratelimit-Remaining: 99", "Ratelimit-Reset: 60",
			"Ratelimit-Policy: 100;w=60, 5000;w=86400",
			"X-Ratelimit-Limit: 100", "X-Ratelimit-Remaining: 99", "X-Ratelimit-Reset: 60"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := write(t, c.dialects, c.result); got != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", got, strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestWhatAPolicySays(t *testing.T) {
	for _, c := range []struct {
		name    string
		decided decided
		want    string // RateLimit-Policy / RateLimit
		older   string // RateLimit-Policy in the older syntax
	}{
		{"a bucket: the burst, and the time a full one takes",
			admitted(bucket, 99, 100*time.Millisecond), `"key";q=100;w=10 / "key";r=99;t=1`, "100;w=10"},
		{"a full capacity that takes no whole number of seconds",
			admitted(core.PerSecond(10).TokenBucket(15).Named("b"), 1, time.Second), `"b";q=15 / "b";r=1;t=1`, "15;w=2"},
		{"a window of 1 ms", admitted(core.Per(1, time.Millisecond).Named("b"), 0, time.Millisecond), `"b";q=1 / "b";r=0;t=1`, "1;w=1"},
		{"a window of 1 ms, refused", refused(core.Per(1, time.Millisecond).Named("b"), 0, time.Microsecond, time.Millisecond),
			`"b";q=1 / "b";r=0;t=1`, "1;w=1"},
		{"a window of 1.5 s", admitted(core.Per(3, 1500*time.Millisecond).Named("b"), 2, 1500*time.Millisecond),
			`"b";q=3 / "b";r=2;t=2`, "3;w=2"},
		{"nothing counted: no time to wait", admitted(ip, 100, 0), `"ip";q=100;w=60 / "ip";r=100;t=0`, "100;w=60"},
		{"the longest window", admitted(core.PerLimit(core.Limit{Count: 1, Period: 366 * 24 * time.Hour}), 0, 366*24*time.Hour),
			`"1/8784h0m0s";q=1;w=31622400 / "1/8784h0m0s";r=0;t=31622400`, "1;w=31622400"},
		{"the largest burst", admitted(core.PerSecond(1_000_000).TokenBucket(1_000_000_000).Named("b"), 999_999_999, time.Second),
			`"b";q=1000000000;w=1000 / "b";r=999999999;t=1`, "1000000000;w=1000"},
		{"a remaining that no field can hold", admitted(ip, 1<<62, time.Second), `"ip";q=100;w=60 / "ip";r=999999999999999;t=1`, "100;w=60"},
		{"a remaining below zero", admitted(ip, -1, time.Second), `"ip";q=100;w=60 / "ip";r=0;t=1`, "100;w=60"},
		{"named after its limit", admitted(core.PerMinute(60), 59, time.Minute), `"60/minute";q=60;w=60 / "60/minute";r=59;t=60`, "60;w=60"},
		{"a name with quotes and backslashes", admitted(core.PerMinute(60).Named(`a"b\c`), 59, time.Minute),
			`"a\"b\\c";q=60;w=60 / "a\"b\\c";r=59;t=60`, "60;w=60"},
		{"a name with what divides lists", admitted(core.PerMinute(60).Named(`a, b;q=9`), 59, time.Minute),
			`"a, b;q=9";q=60;w=60 / "a, b;q=9";r=59;t=60`, "60;w=60"},
		{"blocked: it has no window", blocked(), `"blocked";q=0 / "blocked";r=0`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := result(t, c.decided)
			f, _ := New(Draft11)
			fields := f.Append(nil, now, r)
			if got := fields[0].Value + " / " + fields[1].Value; got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got := valueOf(t, Draft06, r, policyList); got != c.older {
				t.Errorf("older syntax: got %q, want %q", got, c.older)
			}
			if got := valueOf(t, Draft07, r, policyList); got != c.older {
				t.Errorf("older syntax: got %q, want %q", got, c.older)
			}
		})
	}
}

func valueOf(t *testing.T, d Dialect, r *core.Result, name string) string {
	t.Helper()
	f, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range f.Append(nil, now, r) {
		if field.Name == name {
			return field.Value
		}
	}
	return ""
}

func TestTheTightestPolicyIsShown(t *testing.T) {
	a, b := core.PerMinute(10).Named("a"), core.PerMinute(20).Named("b")
	for _, c := range []struct {
		name string
		all  []decided
		want string // RateLimit-Limit, -Remaining, -Reset
	}{
		{"the least remaining", []decided{admitted(a, 5, time.Second), admitted(b, 4, time.Second)}, "20 4 1"},
		{"of the same remaining, the longer reset", []decided{admitted(a, 5, time.Second), admitted(b, 5, time.Minute)}, "20 5 60"},
		{"of equals, the first", []decided{admitted(a, 5, time.Second), admitted(b, 5, time.Second)}, "10 5 1"},
		{"who refuses before who is nearly used up", []decided{admitted(a, 0, time.Hour), refused(b, 3, time.Second, time.Second)}, "20 3 1"},
		{"who refuses for longer", []decided{refused(a, 0, 2*time.Second, time.Hour), refused(b, 1, 3*time.Second, time.Second)}, "20 1 3"},
		{"who never admits", []decided{refused(a, 0, time.Hour, time.Hour), never(b, 9, time.Second)}, "20 9"},
		{"not who enforces nothing", []decided{refused(a.AsDryRun(), 0, time.Hour, time.Hour), admitted(b, 9, time.Second)}, "20 9 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := result(t, c.all...)
			f, _ := New(Classic)
			var got []string
			for _, field := range f.Append(nil, now, r) {
				got = append(got, field.Value)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %v, want %s", got, c.want)
			}
			if binding := strconv.FormatInt(r.Decision(r.Binding).Capacity, 10); got[0] != binding {
				t.Errorf("the engine binds the policy of %s, the fields show %s", binding, got[0])
			}
		})
	}
}
