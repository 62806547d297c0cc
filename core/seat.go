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

// sit finds the asks' shards, and gives the set of their locks.
func sit(all *[shards]shard, asks []Ask, seats []seat) (set uint64) {
	for i := range asks {
		s := &seats[i]
		s.key = keyOf(asks[i].Terms, asks[i].Key)
		at := s.key[0] % shards
		s.shard = &all[at]
		set |= 1 << at
	}
	return set
}

// noState is the state of a key that is not there.
var noState [maxIntervals + 2]int64

func (s *seat) state(t *Terms) state {
	if s.number < 0 {
		return state{words: noState[:rooms[t.Algorithm].words(t)]}
	}
	return s.table.state(s.number)
}

// evaluate looks the key up and says what the ask meets. On the store's own clock
// what has expired is as if never seen; where a time is passed in, the state tells.
func (s *seat) evaluate(a *Ask, now, own int64, ownClock bool) {
	t := a.Terms
	s.number = -1
	if t.Capacity == 0 {
		s.verdict = verdict{never: true, forgotten: true}
		return
	}
	s.table = s.shard.table(t, false)
	s.number = s.table.find(s.key)
	now /= t.Tick
	s.blockedFor = 0
	if len(s.shard.blocks) > 0 {
		s.blockedFor = s.shard.blocks[s.key].left(t, now)
	}
	found := s.state(t)
	if s.number >= 0 && ownClock && s.table.record(s.number)[recordExpires] <= own {
		found = state{words: noState[:len(found.words)]}
	}
	longest := a.LongestWait
	if longest > 0 {
		longest /= t.Tick
	}
	s.verdict = t.evaluate(found, now, a.Cost, longest, s.blockedFor)
}

// open gives the key's state to write to, made if there is none.
func (s *seat) open(t *Terms) state {
	if s.number < 0 {
		s.table = s.shard.table(t, true)
		// Another ask of this request may have made it.
		if s.number = s.table.find(s.key); s.number < 0 {
			s.number = s.table.insert(s.key)
		}
	}
	found := s.table.state(s.number)
	if s.forgotten {
		rooms[t.Algorithm].forget(found)
		s.forgotten = false
	}
	return found
}

func (s *seat) charge(a *Ask) {
	a.Turn = rooms[a.Terms.Algorithm].charge(a.Terms, s.open(a.Terms), s.at, a.Cost)
	a.Charged, a.ChargedAt = a.Cost, s.at*a.Terms.Tick
	a.Delay = a.Terms.duration(s.delay)
}

// adjust brings a charge to what it actually cost, and reports whether it wrote.
func (s *seat) adjust(a *Ask, actual int64) bool {
	t := a.Terms
	room := &rooms[t.Algorithm]
	if actual > a.Charged {
		room.owe(t, s.open(t), s.at, actual-a.Charged)
		return true
	}
	if s.forgotten {
		return false
	}
	room.refund(t, s.open(t), s.at, a.Charged-actual, a.ChargedAt/t.Tick, a.Turn)
	return true
}

// live sets how long the record lives after a write.
func (s *seat) live(m *Memory, t *Terms, own int64, given time.Time) {
	_, reset := t.report(s.table.state(s.number), &s.verdict, 0)
	s.table.record(s.number)[recordExpires] = expiry(own, reset*t.Tick, given)
	m.arm()
}

// answer fills in what remains.
func (s *seat) answer(a *Ask) {
	remaining, reset := a.Terms.report(s.state(a.Terms), &s.verdict, s.blockedFor)
	a.Remaining, a.ResetAfter = remaining, a.Terms.duration(reset)
}

// table gives the table of the terms' states; nil where there is none and none is
// to be made.
func (sh *shard) table(t *Terms, create bool) *table {
	stride := recordState + rooms[t.Algorithm].words(t)
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

func (sh *shard) len() (n int) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for _, t := range sh.tables {
		n += t.live
	}
	return n + len(sh.blocks)
}
