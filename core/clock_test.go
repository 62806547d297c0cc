package core

import (
	"testing"
	"time"
	"unsafe"
)

// The wall clock of the process is set back, and forward, after a store was made: its
// own clock goes on by the monotonic one. The process's clock cannot be set in a test,
// so it is the wall reading of the store's beginning that moves.
func TestTheWallClockIsSet(t *testing.T) {
	const seconds = 1 << 30 // where a time with a monotonic reading keeps the wall's
	for _, hours := range []int64{-24, -1, 1, 24} {
		m := NewMemory()
		defer m.Close()
		before := m.clock()
		*(*int64)(unsafe.Pointer(&m.base)) += hours * 3600 * seconds
		if wall := m.base.UnixMicro() - m.baseUS; wall != hours*time.Hour.Microseconds() {
			t.Fatalf("the wall reading has moved by %d us, want %d hours", wall, hours)
		}
		if passed := m.clock() - before; passed < 0 || passed > time.Minute.Microseconds() {
			t.Errorf("%d hours: %d us have passed", hours, passed)
		}
	}
}
