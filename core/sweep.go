package core

import "time"

// arm starts the timer when there is something to sweep.
func (m *Memory) arm() {
	if m.armed.Load() || !m.armed.CompareAndSwap(false, true) {
		return
	}
	m.timer.Store(time.AfterFunc(sweepEvery, m.sweep))
	if m.closed.Load() {
		m.timer.Load().Stop()
	}
}

// sweep removes what has expired, some records under a lock at a time, and comes
// again while anything is left.
func (m *Memory) sweep() {
	all := m.shards.Load()
	if all == nil {
		return
	}
	now := m.seen.Load()
	if m.now == nil {
		now = m.clock()
	}
	// One step in each shard in turn: who waits for a lock gets it meanwhile.
	for rest := ^uint64(0); rest != 0; {
		for i := range all {
			if bit := uint64(1) << i; rest&bit != 0 && !all[i].sweep(now) {
				rest &^= bit
			}
		}
	}
	m.armed.Store(false)
	if m.Len() > 0 {
		m.arm()
	}
}

// sweep goes over some records, and reports whether there are more.
func (sh *shard) sweep(now int64) (more bool) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.swept < len(sh.tables) {
		if sh.tables[sh.swept].sweep(now, sweepRecords) {
			sh.swept++
		}
		return true
	}
	sh.swept = 0
	for key, b := range sh.blocks {
		if b.expires <= now {
			delete(sh.blocks, key)
		}
	}
	return false
}
