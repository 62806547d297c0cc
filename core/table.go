package core

// table keeps records of one width by a key of 128 bits of hash, without a pointer
// to any of them: an index of slots over pages of records. Its shard's lock guards
// it.
type table struct {
	stride  int // words of a record: its header and the state
	entries *entryPool
	slots   []uint32 // tag of the key << 24 | number of the record + 1; 0: empty
	pages   [][]int64
	free    int64 // number of the first free record + 1
	made    int   // records ever made in pages
	live    int
	cursor  int // where the next sweep goes on
}

// A record is a header and a state.
const (
	recordKey     = 0 // two words
	recordExpires = 2 // microseconds on the store's clock; negative: free, linked
	recordState   = 3

	pageRecords = 4096
	firstSlots  = 8
	maxRecords  = 1<<24 - 1
)

// hashKey stands for a policy's identity and a key. (A struct: Go keeps no array in
// registers.)
type hashKey struct{ a, b uint64 }

func (t *table) record(number int) []int64 {
	at := number % pageRecords * t.stride
	return t.pages[number/pageRecords][at : at+t.stride : at+t.stride]
}

func (t *table) state(number int) state {
	return state{t.record(number)[recordState:], t.entries}
}

// home is the first slot to look for a key. The lowest bits have chosen the shard.
func (t *table) home(key0 uint64) int { return int(key0>>shardBits) & (len(t.slots) - 1) }

func tag(key1 uint64) uint32 { return uint32(key1>>56) << 24 }

// find gives the number of a key's record, or -1.
func (t *table) find(key hashKey) int {
	if t == nil || t.live == 0 {
		return -1
	}
	for at := t.home(key.a); ; at = (at + 1) & (len(t.slots) - 1) {
		slot := t.slots[at]
		if slot == 0 {
			return -1
		}
		if slot&^maxRecords != tag(key.b) {
			continue
		}
		number := int(slot&maxRecords) - 1
		if r := t.record(number); r[0] == int64(key.a) && r[1] == int64(key.b) {
			return number
		}
	}
}

// insert makes a record for a key that has none, all zero.
func (t *table) insert(key hashKey) int {
	if (t.live+1)*4 > len(t.slots)*3 {
		t.index(max(firstSlots, 2*len(t.slots)))
	}
	number := t.newRecord()
	r := t.record(number)
	clear(r)
	r[0], r[1] = int64(key.a), int64(key.b)
	t.live++
	t.place(key, number)
	return number
}

func (t *table) newRecord() int {
	if t.free != 0 {
		number := int(t.free) - 1
		t.free = -1 - t.record(number)[recordExpires]
		return number
	}
	if t.made%pageRecords == 0 {
		t.pages = append(t.pages, nil)
	}
	// The first page grows with its records, so that a small table is small.
	last := len(t.pages) - 1
	if room := len(t.pages[last]) / t.stride; t.made%pageRecords >= room {
		size := pageRecords
		if last == 0 {
			size = max(8, 2*room)
		}
		t.pages[last] = append(make([]int64, 0, size*t.stride), t.pages[last]...)[:size*t.stride]
	}
	t.made++
	return t.made - 1
}

func (t *table) place(key hashKey, number int) {
	at := t.home(key.a)
	for t.slots[at] != 0 {
		at = (at + 1) & (len(t.slots) - 1)
	}
	t.slots[at] = tag(key.b) | uint32(number+1)
}

// index builds the slots anew from the records.
func (t *table) index(slots int) {
	t.slots = make([]uint32, slots)
	for number := range t.made {
		if r := t.record(number); r[recordExpires] >= 0 {
			t.place(hashKey{uint64(r[0]), uint64(r[1])}, number)
		}
	}
}

// remove frees a record, and moves up the slots behind it that it kept from home.
func (t *table) remove(number int) {
	if t.entries != nil {
		t.state(number).drop(maxCount)
	}
	r := t.record(number)
	mask := len(t.slots) - 1
	hole := t.home(uint64(r[0]))
	for int(t.slots[hole]&maxRecords)-1 != number {
		hole = (hole + 1) & mask
	}
	for at := (hole + 1) & mask; t.slots[at] != 0; at = (at + 1) & mask {
		home := t.home(uint64(t.record(int(t.slots[at]&maxRecords) - 1)[0]))
		if (at-home)&mask >= (at-hole)&mask {
			t.slots[hole], hole = t.slots[at], at
		}
	}
	t.slots[hole] = 0
	r[recordExpires] = -1 - t.free
	t.free = int64(number) + 1
	t.live--
}

// sweep removes what has expired among the next records, and reports whether it
// has come round.
func (t *table) sweep(now int64, records int) (done bool) {
	end := min(t.made, t.cursor+records)
	for ; t.cursor < end; t.cursor++ {
		if expires := t.record(t.cursor)[recordExpires]; expires >= 0 && expires <= now {
			t.remove(t.cursor)
		}
	}
	if t.cursor < t.made {
		return false
	}
	t.cursor = 0
	t.shrink()
	return true
}

// shrink gives memory back once three quarters of the records are free.
func (t *table) shrink() {
	if t.live == 0 {
		*t = table{stride: t.stride, entries: t.entries}
		return
	}
	if t.made <= pageRecords || t.live*4 > t.made {
		return
	}
	small := table{stride: t.stride, entries: t.entries}
	for number := range t.made {
		if r := t.record(number); r[recordExpires] >= 0 {
			copy(small.record(small.insert(hashKey{uint64(r[0]), uint64(r[1])})), r)
		}
	}
	*t = small
}
