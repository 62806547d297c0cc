package core

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestParseLimit(t *testing.T) {
	for text, want := range map[string]Limit{
		"100/minute":          {Count: 100, Period: time.Minute},
		"100 / minute":        {Count: 100, Period: time.Minute},
		"10/s burst 20":       {Count: 10, Period: time.Second, Burst: 20},
		"5 per 30s":           {Count: 5, Period: 30 * time.Second},
		"5 per 1m30s burst 7": {Count: 5, Period: 90 * time.Second, Burst: 7},
		"1/ms":                {},
		"1/1ms":               {Count: 1, Period: time.Millisecond},
		"1000000000/day":      {Count: 1e9, Period: 24 * time.Hour},
		"3/week":              {Count: 3, Period: 7 * 24 * time.Hour},
		"unlimited":           Unlimited(),
		"blocked":             Blocked(),
	} {
		got, err := ParseLimit(text)
		if (err != nil) != (want == Limit{}) || got != want && err == nil {
			t.Errorf("%q: got %+v, %v; want %+v", text, got, err, want)
		}
		if err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v does not wrap ErrInvalid", text, err)
		}
	}
}

func TestParseLimitRefuses(t *testing.T) {
	for _, text := range []string{
		"", " ", "/", "100", "100/", "/minute", "0/minute", "-1/minute", "1.5/minute", "1e3/minute", "100/fortnight",
		"100/0s", "100/-1s", "100/1us", "100/1ns", "100/9000h", "9223372036854775808/s", "1000000001/s", "10/s burst",
		"10/s burst 0", "10/s burst -1", "10/s burst 1000000001", "10/s bursts 5", "10/s burst 5 6", "10 s", "10//s",
		"10/s/s", "unlimited 5", "1/1500ns", strings.Repeat("9", 1<<20) + "/s", "1/\x00",
	} {
		l, err := ParseLimit(text)
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%.40q: got %v, %v; want an error", text, l, err)
		} else if len(err.Error()) > 400 {
			t.Errorf("%.40q: the error has %d bytes", text, len(err.Error()))
		}
	}
}

func TestLimitAsText(t *testing.T) {
	var config struct{ Login, Open, Shut Limit }
	text := `{"Login":"5/minute","Open":"unlimited","Shut":"blocked"}`
	if err := json.Unmarshal([]byte(text), &config); err != nil {
		t.Fatal(err)
	}
	if want := (Limit{Count: 5, Period: time.Minute}); config.Login != want || !config.Open.IsUnlimited() || !config.Shut.IsBlocked() {
		t.Fatalf("read %+v", config)
	}
	if back, err := json.Marshal(config); err != nil || string(back) != text {
		t.Fatalf("wrote %s, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"Login":"5 a minute"}`), &config); !errors.Is(err, ErrInvalid) {
		t.Fatalf("a misspelt limit: %v", err)
	}
	if _, err := json.Marshal(Limit{}); !errors.Is(err, ErrInvalid) {
		t.Fatalf("the zero limit: %v", err)
	}
}

// FuzzParseLimit: whatever is read is legal, and written so that it is read again.
func FuzzParseLimit(f *testing.F) {
	for _, seed := range []string{"100/minute", "5 per 30s", "10/s burst 20", "unlimited", "blocked", "1/1h1m1s", "07/d"} {
		f.Add(seed)
	}
	f.Add(strings.Repeat("9", 1<<16) + "/s")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ParseLimit(text)
		if err != nil {
			return
		}
		if err := l.Err(); err != nil {
			t.Fatalf("%q was read as a limit that is not legal: %v", text, err)
		}
		if again, err := ParseLimit(l.String()); err != nil || again != l {
			t.Fatalf("%q was written as %q and read as %+v, %v", text, l.String(), again, err)
		}
	})
}

func TestTick(t *testing.T) {
	day := (24 * time.Hour).Microseconds()
	for _, c := range []struct{ units, period, interval, want int64 }{
		{100, 1_000_000, 1_000_000, 1},
		{1_000_000, day, day, 1_000},
		{1_000_000_000, day, day, 1_000_000},
		{1_000_000_000, day, day / 7, 0},         // no whole milliseconds in an interval
		{1_000_000_000, 366 * day, 366 * day, 0}, // 3.2e16 unit-seconds
		{1_000_000, 1_000_000_001, 1_000_000_001, 1},
	} {
		if got := tick(c.units, c.period, c.interval); got != c.want {
			t.Errorf("%d units in %d us by %d: a tick of %d us, want %d", c.units, c.period, c.interval, got, c.want)
		}
	}
}
