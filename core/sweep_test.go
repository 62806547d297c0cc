package core

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func mustLimiter(t testing.TB, store Store, policies ...Policy) *Limiter {
	t.Helper()
	l, err := NewLimiter(store, policies...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustTake(t testing.TB, l *Limiter, keys ...string) Result {
	t.Helper()
	r, err := l.Take(context.Background(), keys...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestIdleKeysLeaveByThemselves(t *testing.T) {
	for _, p := range []Policy{Per(5, 10*time.Second), Per(5, 10*time.Second).SlidingWindowLog(), Per(5, 50*time.Second).TokenBucket(5)} {
		t.Run(p.Algorithm.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := NewMemory()
				l := mustLimiter(t, m, p)
				for i := range 20_000 {
					mustTake(t, l, fmt.Sprint(i))
				}
				if n := m.Len(); n != 20_000 {
					t.Fatalf("%d keys are held of 20000", n)
				}
				time.Sleep(15 * time.Second)
				mustTake(t, l, "late")
				time.Sleep(7 * time.Second)
				synctest.Wait()
				if n := m.Len(); n != 1 {
					t.Errorf("%d keys are held, want the late one", n)
				}
				if room := recordsKept(m); room > 1000 {
					t.Errorf("there is room for %d records, for one key", room)
				}
				time.Sleep(30 * time.Second)
				synctest.Wait()
				if m.Len() != 0 || m.armed.Load() {
					t.Errorf("%d keys, timer armed: %v; want an empty store at rest", m.Len(), m.armed.Load())
				}
			})
		})
	}
}

func recordsKept(m *Memory) (room int) {
	for i := range m.shards.Load() {
		sh := &m.shards.Load()[i]
		sh.mu.Lock()
		for _, table := range sh.tables {
			room += table.room
		}
		sh.mu.Unlock()
	}
	return room
}

func TestCloseLeavesNothingBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 10_000 {
		m := NewMemory()
		l := mustLimiter(t, m, PerMinute(1))
		mustTake(t, l, "k")
		for range 2 {
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := l.Take(context.Background(), "k"); !errors.Is(err, ErrClosed) {
			t.Fatalf("a closed store: %v", err)
		}
		if m.Len() != 0 {
			t.Fatal("a closed store holds keys")
		}
	}
	if after := runtime.NumGoroutine(); after > before+2 {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

// TestManyIdleStoresAreSmall: a limiter for each of 1,500 routes, as an
// application may well have.
func TestManyIdleStoresAreSmall(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	stores := make([]*Memory, 1500)
	for i := range stores {
		stores[i] = NewMemory()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 1<<20 {
		t.Errorf("1500 idle stores take %d bytes", grown)
	}
	runtime.KeepAlive(stores)
}

func TestMemoryOnAClockOfTheUsersOwn(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	l := mustLimiter(t, NewMemory(WithNow(func() time.Time { return now })), PerMinute(1).FixedWindow())
	for _, step := range []struct {
		move    time.Duration
		allowed bool
	}{
		{0, true}, {0, false}, {59 * time.Second, false}, {time.Second, true},
		{-30 * time.Second, false}, // a little back: the newer window decides
		{-48 * time.Hour, true},    // far back: as if never seen
		{0, false}, {time.Minute, true}, {100 * 365 * 24 * time.Hour, true}, {time.Second, false},
	} {
		now = now.Add(step.move)
		if got := mustTake(t, l, "k").Allowed; got != step.allowed {
			t.Errorf("at %v: allowed %v", now, got)
		}
	}
	for _, odd := range []time.Time{{}, time.Unix(-1<<40, 0), time.Unix(1<<40, 0)} {
		now = odd
		mustTake(t, l, "odd")
	}
}

// TestTable compares the table with a map under random use.
func TestTable(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	table := &table{stride: recordState + 2}
	want := map[hashKey]int64{}
	for step := range 30_000 {
		key := hashKey{random.Uint64N(3000) * shards, random.Uint64N(2) << 56}
		number := table.find(key)
		if _, known := want[key]; known != (number >= 0) {
			t.Fatalf("step %d: key %v known %v, found at %d", step, key, known, number)
		}
		switch {
		case number < 0:
			number = table.insert(key)
			table.record(number)[recordState] = int64(step)
			want[key] = int64(step)
		case random.IntN(3) == 0:
			table.remove(number)
			delete(want, key)
		case table.record(number)[recordState] != want[key]:
			t.Fatalf("step %d: key %v holds %d, want %d", step, key, table.record(number)[recordState], want[key])
		}
		if step%5_000 == 0 { // most expire
			for key := range want {
				if random.IntN(10) > 0 {
					table.record(table.find(key))[recordExpires] = 1
					delete(want, key)
				} else {
					table.record(table.find(key))[recordExpires] = 3
				}
			}
			for !table.sweep(2, 100) {
			}
		}
	}
	if table.live != len(want) {
		t.Errorf("%d live records, want %d", table.live, len(want))
	}
}

// TestATableGivesMemoryBack: of 40,000 records ten stay, and room for not many more.
func TestATableGivesMemoryBack(t *testing.T) {
	table := &table{stride: recordState + 2}
	key := func(i int) hashKey { return hashKey{uint64(i) * 0x9E3779B97F4A7C15, uint64(i)} }
	for i := range 40_000 {
		r := table.record(table.insert(key(i)))
		r[recordExpires], r[recordState] = 1, int64(i)
		if i%4000 == 0 {
			r[recordExpires] = 3
		}
	}
	for round := range 2 {
		for !table.sweep(2, 100) {
		}
		if table.live != 10 || table.room > 64 || len(table.slots) > 256 {
			t.Fatalf("round %d: %d records, room for %d, %d slots", round, table.live, table.room, len(table.slots))
		}
	}
	for i := range 40_000 {
		if number := table.find(key(i)); (number >= 0) != (i%4000 == 0) || number >= 0 && table.record(number)[recordState] != int64(i) {
			t.Fatalf("key %d is found at %d", i, number)
		}
	}
}

// TestSweepBesideTraffic: keys that expire while others are asked for lose nobody.
func TestSweepBesideTraffic(t *testing.T) {
	m := NewMemory()
	defer m.Close()
	short := mustLimiter(t, m, Per(1, 2*time.Millisecond).FixedWindow().Named("short"))
	long := mustLimiter(t, m, PerHour(100).TokenBucket(100).Named("long"))
	var done sync.WaitGroup
	for g := range 4 {
		done.Go(func() {
			for i := range 20_000 {
				mustTake(t, short, fmt.Sprint(g, i))
				if i%2000 == 0 {
					m.sweep()
				}
			}
		})
	}
	for range 90 {
		mustTake(t, long, "k")
	}
	done.Wait()
	if r := mustTake(t, long, "k"); r.Decision(0).Remaining != 9 {
		t.Errorf("91 taken of 100, %d remain", r.Decision(0).Remaining)
	}
}

// TestAFullStoreForgetsNobody: a flood of twenty times as many keys as are held
// frees nobody who is limited, and gives a newcomer no budget of his own.
func TestAFullStoreForgetsNobody(t *testing.T) {
	const most, flood = 10_000, 200_000
	m := NewMemory(MaxKeys(most))
	defer m.Close()
	l := mustLimiter(t, m, PerHour(3).SlidingWindowLog())
	for range 3 {
		mustTake(t, l, "victim")
	}
	for i := range flood {
		mustTake(t, l, fmt.Sprint("flood", i))
		if i%10_000 == 0 && mustTake(t, l, "victim").Allowed {
			t.Fatalf("%d other keys have freed a limited client", i)
		}
	}
	if n := m.Len(); n > most+2*shards { // a part is rounded up, and has one key for all others
		t.Errorf("%d keys are held, want about %d", n, most)
	}
	if m.Overflowed() == 0 {
		t.Error("an overflow does not show")
	}
	admitted := 0
	for range 10 {
		r := mustTake(t, l, "newcomer")
		if r.Allowed {
			admitted++
		}
	}
	if admitted > 3 {
		t.Errorf("a newcomer to a full store was admitted %d times at a limit of 3", admitted)
	}
}

func TestAFullStoreTakesNewKeysAgain(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	m := NewMemory(MaxKeys(640), WithNow(func() time.Time { return now }))
	defer m.Close()
	l := mustLimiter(t, m, PerMinute(1).FixedWindow())
	for i := range 5000 {
		mustTake(t, l, fmt.Sprint("flood", i))
	}
	now = now.Add(time.Minute) // all have expired; no timer has run
	for i := range 128 {
		if r := mustTake(t, l, fmt.Sprint("new", i)); !r.Allowed {
			t.Fatalf("the %dth key of a new minute is refused", i+1)
		}
	}
}

// TestSeveralPoliciesOnAFullStore: making room for one ask must not move what another
// of the same request has found.
func TestSeveralPoliciesOnAFullStore(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	m := NewMemory(MaxKeys(64), WithNow(func() time.Time { return now }))
	defer m.Close()
	short, long := PerSecond(2).FixedWindow().Named("short"), PerHour(2).TokenBucket(2).Named("long")
	alone, both := mustLimiter(t, m, short), mustLimiter(t, m, short, long, Per(2, 3*time.Second).SlidingWindowLog().Named("log"))
	mustTake(t, both, "victim", "victim", "victim")
	mustTake(t, both, "victim", "victim", "victim")
	for i := range 5000 {
		mustTake(t, alone, fmt.Sprint("k", i))
		now = now.Add(300 * time.Millisecond)
		mustTake(t, both, fmt.Sprint("k", i), fmt.Sprint("z", i%400), fmt.Sprint("y", i%300))
		if i == 2000 {
			r := mustTake(t, both, "victim", "victim", "victim")
			if r.Allowed {
				t.Fatal("a limited client is free")
			}
		}
	}
	if n := m.Len(); n > 64*6 {
		t.Errorf("%d keys are held of 64 in four tables", n)
	}
}

func TestARefundFindsNobodyInAFullStore(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	m := NewMemory(MaxKeys(64), WithNow(func() time.Time { return now }))
	defer m.Close()
	l := mustLimiter(t, m, PerSecond(1).TokenBucket(3).Named("p"))
	old := make([]Result, 64)
	for i := range old {
		old[i] = mustTake(t, l, fmt.Sprint("old", i))
	}
	now = now.Add(time.Minute) // drained
	hour := mustLimiter(t, m, PerHour(1).FixedWindow().Named("filler"))
	for i := range 2000 {
		mustTake(t, hour, fmt.Sprint("filler", i))
	}
	newcomers := func() (admitted int) {
		for i := range 1000 {
			if r := mustTake(t, l, fmt.Sprint("new", i)); r.Allowed {
				admitted++
			}
		}
		return admitted
	}
	newcomers()
	for i := range old {
		if err := l.Refund(context.Background(), &old[i]); err != nil {
			t.Fatal(err)
		}
	}
	if n := newcomers(); n != 0 {
		t.Errorf("refunds of charges that are gone admit %d others", n)
	}
}

func TestALongLogShutsNobodyOut(t *testing.T) {
	m := NewMemory(MaxKeys(6400))
	defer m.Close()
	long := mustLimiter(t, m, PerHour(100_000).SlidingWindowLog().Named("long"))
	if r, err := long.TakeN(context.Background(), 100_000, "k"); err != nil || !r.Allowed {
		t.Fatalf("%+v, %v", r, err)
	}
	l := mustLimiter(t, m, PerHour(1).FixedWindow().Named("others"))
	for i := range 1000 {
		if r := mustTake(t, l, fmt.Sprint("client", i)); !r.Allowed {
			t.Fatalf("client %d of 1000 is refused at its first request", i)
		}
	}
}
