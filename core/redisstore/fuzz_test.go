package redisstore

import (
	"math"
	"slices"
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
)

// FuzzReply: whatever the server or something before it says is an error that changes
// nothing, or answers that the script can give, and what is behind them.
func FuzzReply(f *testing.F) {
	f.Add([]byte(nil), uint8(1))
	f.Add(appendNumbers(nil, charged, 9, 0, 1_000_000, 1_700_000_000_000_000, 1), uint8(1))
	f.Add(appendNumbers(nil, refused, 0, 1_000_000, 1_000_000, 0, 0, never, 0, 0, 0, 0, 0), uint8(2))
	f.Add(append(appendNumbers(nil, failed, 3), "why, and the next one"...), uint8(1))
	f.Add(appendNumbers(nil, failed, math.MaxInt64), uint8(1))
	f.Add(appendNumbers(nil, blocked, exact+2, 0, 0, 0, 0), uint8(1))
	f.Add(appendNumbers(nil, 1, 1), uint8(2))
	f.Add([]byte("-ERR what something between here and the server says in its own words"), uint8(1))
	f.Fuzz(func(t *testing.T, text []byte, n uint8) {
		asks := make([]core.Ask, n)
		for i := range asks {
			asks[i].Cost = 1
		}
		before := slices.Clone(asks)
		rest, err := readAnswers(text, asks)
		if err != nil && !slices.Equal(asks, before) {
			t.Errorf("%q is %v, and has changed the asks: %+v", text, err, asks)
		}
		if len(rest) > len(text) || string(rest) != string(text[len(text)-len(rest):]) {
			t.Errorf("%q is behind %q", rest, text)
		}
		for _, a := range asks {
			if err == nil && !isPossible(a.Answer) {
				t.Errorf("%q is read as %+v", text, a.Answer)
			}
		}
		if done(text, int(n)) == nil && len(text) != 8*int(n) {
			t.Errorf("%q says that %d are done", text, n)
		}
	})
}

// isPossible reports whether a script could have given an answer.
func isPossible(a core.Answer) bool {
	whole := a.Remaining >= 0 && a.RetryAfter >= 0 && a.ResetAfter >= 0 && a.Delay >= 0 && a.ChargedAt >= 0 && a.Turn >= 0
	return whole && !(a.Never && a.Allowed) && !(a.Blocked && a.Allowed) && (a.Charged == 0 || a.Allowed)
}
