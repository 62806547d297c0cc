package redistest

import (
	"context"
	"testing"
	"time"
)

func TestAClockIsSet(t *testing.T) {
	s, clock := StartWithClock(t)
	client := s.Client()
	defer client.Close()
	for _, ahead := range []time.Duration{0, time.Hour, -48 * time.Hour, 0} {
		clock.Set(ahead)
		now, err := client.Time(context.Background()).Result()
		if off := now.Sub(time.Now().Add(ahead)); err != nil || off.Abs() > 5*time.Second {
			t.Errorf("%v ahead: off by %v, %v", ahead, off, err)
		}
	}
}
