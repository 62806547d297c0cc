package headers

import (
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

func TestPoliciesThatEnforceNothingAreNotShown(t *testing.T) {
	silent := []decided{
		unlimited(),
		refused(core.PerMinute(1).Named("dry").AsDryRun(), 0, time.Hour, time.Hour),
		refused(core.PerMinute(2).Named("degrading").Degrading(), 0, time.Hour, time.Hour),
	}
	for _, d := range []Dialect{Draft11, Classic, Draft06, Draft07, XSeconds, XEpoch} {
		if got := write(t, []Dialect{d}, result(t, silent...)); got != "" {
			t.Errorf("%v, nothing to show: %q", d, got)
		}
		alone := write(t, []Dialect{d}, result(t, admitted(ip, 9, time.Second)))
		among := write(t, []Dialect{d}, result(t, append(silent, admitted(ip, 9, time.Second))...))
		if alone != among {
			t.Errorf("%v: alone\n%s\namong silent ones\n%s", d, alone, among)
		}
	}
	if got := write(t, nil); got != "" {
		t.Errorf("no result: %q", got)
	}
}

func TestNestedMiddlewares(t *testing.T) {
	outer := result(t, admitted(ip, 99, time.Minute), admitted(day, 10, time.Hour))
	for _, c := range []struct {
		name  string
		inner *core.Result
		want  string
	}{
		{"one more policy", result(t, admitted(bucket, 50, time.Second)),
			`"ip";r=99;t=60, "day";r=10;t=3600, "key";r=50;t=1 / 5000 10 3600`},
		{"one that is tighter", result(t, admitted(bucket, 1, time.Second)),
			`"ip";r=99;t=60, "day";r=10;t=3600, "key";r=1;t=1 / 100 1 1`},
		{"one that refuses", result(t, refused(bucket, 0, 100*time.Millisecond, time.Second)),
			`"ip";r=99;t=60, "day";r=10;t=3600, "key";r=0;t=1 / 100 0 1`},
		{"a name again, tighter: named once", result(t, admitted(ip, 98, time.Minute)),
			`"ip";r=98;t=60, "day";r=10;t=3600 / 5000 10 3600`},
		{"a name again, looser: named once", result(t, admitted(day, 11, time.Hour), admitted(bucket, 50, time.Second)),
			`"ip";r=99;t=60, "day";r=10;t=3600, "key";r=50;t=1 / 5000 10 3600`},
		{"one that enforces nothing", result(t, refused(bucket.AsDryRun(), 0, time.Second, time.Second)),
			`"ip";r=99;t=60, "day";r=10;t=3600 / 5000 10 3600`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, _ := New()
			fields := f.Append(nil, now, outer, c.inner)
			got := fields[1].Value + " / " + fields[2].Value + " " + fields[3].Value + " " + fields[4].Value
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAppendKeepsWhatIsThere(t *testing.T) {
	f, _ := New(Classic)
	fields := f.Append([]Field{{"Server", "x"}}, now, result(t, admitted(ip, 9, time.Second)))
	if len(fields) != 4 || fields[0].Name != "Server" {
		t.Errorf("got %v", fields)
	}
	if again := f.Append(nil, now, result(t, admitted(ip, 8, time.Second))); fields[2].Value != "9" || again[1].Value != "8" {
		t.Errorf("an older field changed to %v", fields[2])
	}
}

func TestEpochOfThePresent(t *testing.T) {
	f, _ := New(XEpoch)
	before := time.Now()
	got := f.Append(nil, time.Time{}, result(t, admitted(ip, 9, time.Minute)))[2].Value
	low := f.Append(nil, before, result(t, admitted(ip, 9, time.Minute)))[2].Value
	high := f.Append(nil, time.Now(), result(t, admitted(ip, 9, time.Minute)))[2].Value
	if got < low || got > high {
		t.Errorf("reset %s, want %s to %s", got, low, high)
	}
}
