package core

import "time"

// seat is an ask's place in the memory store while its shard is locked.
type seat struct {
	verdict
	shard      *shard
	table      *table
	key        hashKey
	number     int // of the record; -1: none
	blockedFor int64
}

// sit finds an ask's shard, and gives its number.
func (s *seat) sit(all *[shards]shard, a *Ask) uint64 {
	s.key = keyOf(a.Terms, a.Key)
	number := s.key.a % shards
	s.shard = &all[number]
	return number
}

// noState is the state of a key that is not there.
var noState [maxIntervals + 2]int64

// evaluate looks the key up and says what the ask meets. On the store's own clock
// what has expired is as if never seen; where a time is passed in, the state tells. A
// key that a full shard does not hold is counted with others, if together is set.
func (s *seat) evaluate(m *Memory, a *Ask, at instant, together bool) {
	t := a.Terms
	s.number = -1
	if t.Capacity == 0 {
		s.verdict = verdict{never: true, forgotten: true}
		return
	}
	now, longest := at.now, a.LongestWait
	if t.Tick != 1 {
		now /= t.Tick
		if longest > 0 {
			longest /= t.Tick
		}
	}
	if len(s.shard.blocks) > 0 {
		s.blockedFor = s.shard.blocks[s.key].left(t, now)
	}
	s.table = s.shard.table(t, false)
	s.number = s.table.find(s.key)
	if s.number < 0 && together && s.shard.isFull(t, m.max) {
		m.full.Add(1)
		s.key = overflowKey(t)
		s.number = s.table.find(s.key)
	}
	found := state{words: noState[:t.words]}
	if s.number >= 0 {
		if r := s.table.record(s.number); at.given || r[recordExpires] > at.own {
			found = s.table.state(r)
		}
	}
	s.verdict.evaluate(t, found, now, a.Cost, longest, s.blockedFor)
}

// open gives the key's record and state to write to, made if there are none.
func (s *seat) open(t *Terms) (record []int64, kept state) {
	if s.number < 0 {
		s.table = s.shard.table(t, true)
		// Another ask of this request may have made it.
		if s.number = s.table.find(s.key); s.number < 0 {
			s.number = s.table.insert(s.key)
		}
	}
	record = s.table.record(s.number)
	kept = s.table.state(record)
	if s.forgotten {
		t.room.forget(kept)
		s.forgotten = false
	}
	return record, kept
}

// decide charges the ask, where it is to be, and fills in its answer.
func (s *seat) decide(a *Ask, charge bool, at instant) {
	t := a.Terms
	a.Answer = Answer{Allowed: s.allowed, Never: s.never, Blocked: s.blockedFor > 0 && !s.never}
	remaining, reset := t.Capacity, int64(0)
	switch {
	case charge && s.allowed && a.Cost > 0:
		record, kept := s.open(t)
		s.level, a.Turn = t.room.charge(t, kept, s.at, s.level, a.Cost)
		a.Charged, a.ChargedAt = a.Cost, s.at*t.Tick
		a.Delay = t.duration(s.delay)
		remaining, reset = t.report(kept, &s.verdict)
		record[recordExpires] = at.expiry(reset * t.Tick)
	case !s.forgotten:
		remaining, reset = t.report(s.table.state(s.table.record(s.number)), &s.verdict)
	}
	if s.blockedFor > 0 || t.Capacity == 0 {
		remaining, reset = 0, max(reset, s.blockedFor)
	}
	a.Remaining, a.RetryAfter, a.ResetAfter = remaining, t.duration(s.retry), t.duration(reset)
}

// adjust brings a charge to what it actually cost.
func (s *seat) adjust(a *Ask, actual int64, at instant) {
	t := a.Terms
	if actual < a.Charged && s.forgotten {
		return
	}
	record, kept := s.open(t)
	if actual > a.Charged {
		t.room.owe(t, kept, s.at, s.level, actual-a.Charged)
	} else {
		t.room.refund(t, kept, a.Charged-actual, a.ChargedAt/t.Tick, a.Turn)
	}
	_, s.level, _ = t.room.read(t, kept, s.at)
	_, reset := t.report(kept, &s.verdict)
	record[recordExpires] = at.expiry(reset * t.Tick)
}

// instant is the one time of a call.
type instant struct {
	now   int64 // what decides, in microseconds since the epoch
	own   int64 // the store's clock, from which lifetimes count
	given bool  // now was passed in and may have nothing to do with own
}

// expiry is when what is written now may be forgotten, on the store's clock.
func (i instant) expiry(life int64) int64 {
	if i.given {
		life = max(life, testLife)
	}
	return i.own + life
}

func (m *Memory) instant(given time.Time) instant {
	own := m.clock()
	if given.IsZero() {
		return instant{own, own, false}
	}
	return instant{clampTime(given.UnixMicro()), own, true}
}

// table gives the table of the terms' states; nil where there is none and none is
// to be made.
func (sh *shard) table(t *Terms, create bool) *table {
	stride := recordState + t.words
	logs := t.Algorithm == SlidingWindowLog
	for _, known := range sh.tables {
		if known.stride == stride && (known.entries != nil) == logs {
			return known
		}
	}
	if !create {
		return nil
	}
	made := &table{stride: stride}
	if logs {
		made.entries = &sh.entries
	}
	sh.tables = append(sh.tables, made)
	return made
}

// overflowKey stands for all keys of a policy that a full shard does not hold.
func overflowKey(t *Terms) hashKey { return hashKey{^t.hash.a, ^t.hash.b} }

// makeRoom sweeps a little where the shard is full. It renumbers records: no ask may
// have its number yet.
func (sh *shard) makeRoom(most, now int64) {
	if sh.keys() < most && sh.entries.live < most {
		return
	}
	for _, t := range sh.tables {
		t.sweep(now, sweepRecords)
	}
}

// isFull reports whether the shard takes no more keys of the terms. The chunks of
// logs are bounded apart, so that a long log shuts nobody else out.
func (sh *shard) isFull(t *Terms, most int64) bool {
	return sh.keys() >= most || t.Algorithm == SlidingWindowLog && sh.entries.live >= most
}

func (sh *shard) keys() (n int64) {
	for _, t := range sh.tables {
		n += int64(t.live)
	}
	return n
}

func (sh *shard) len() (n int) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return int(sh.keys()) + len(sh.blocks)
}
