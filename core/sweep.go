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
	left := 0
	for i := range all {
		for table := 0; all[i].sweepTable(table, now); table++ {
		}
		all[i].sweepBlocks(now)
		left += all[i].len()
	}
	m.armed.Store(false)
	if left > 0 || m.Len() > 0 {
		m.arm()
	}
}

// sweepTable goes over the shard's i-th table, and reports whether there is one.
func (sh *shard) sweepTable(i int, now int64) bool {
	for done := false; !done; {
		sh.mu.Lock()
		tables := sh.tables
		if i >= len(tables) {
			sh.mu.Unlock()
			return false
		}
		done = tables[i].sweep(now, sweepRecords)
		sh.mu.Unlock()
	}
	return true
}

func (sh *shard) sweepBlocks(now int64) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for key, b := range sh.blocks {
		if b.expires <= now {
			delete(sh.blocks, key)
		}
	}
}
