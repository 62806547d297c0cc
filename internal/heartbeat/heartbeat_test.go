package heartbeat

import (
	"testing"
	"testing/synctest"
	"time"
)

// A machine that keeps nobody waiting misses nothing.
func TestAHeartThatBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := Start()
		began := time.Now()
		time.Sleep(time.Second)
		h.Stop()
		if missed := h.Missed(began, time.Now()); missed != 0 || h.Worst() != 0 {
			t.Errorf("it missed %v, %v at worst", missed, h.Worst())
		}
	})
}

// What is missed counts as far as it lies in the time that is asked for.
func TestWhatIsMissed(t *testing.T) {
	began := time.Now()
	at := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	h := &Heart{missed: []span{{at(10), at(30)}, {at(40), at(45)}}}
	for _, c := range []struct{ from, to, want int }{
		{0, 100, 25}, {0, 10, 0}, {0, 15, 5}, {12, 14, 2}, {20, 42, 12}, {30, 40, 0}, {46, 100, 0},
	} {
		if missed := h.Missed(at(c.from), at(c.to)); missed != time.Duration(c.want)*time.Millisecond {
			t.Errorf("from %d to %d it missed %v, want %d ms", c.from, c.to, missed, c.want)
		}
	}
	if h.Worst() != 20*time.Millisecond {
		t.Errorf("at worst %v", h.Worst())
	}
}
