package core

// table keeps records of one width by a key of 128 bits of hash, without a pointer
// to any of them: an index of slots over pages of records, which lie without gaps.
// Its shard's lock guards it.
type table struct {
	stride  int // words of a record: its header and the state
	entries *entryPool
	slots   []uint32 // tag of the key << 24 | number of the record + 1; 0: empty
	pages   [][]int64
	room    int // records that the pages have room for
	live    int
	cursor  int // the records below are still to be swept
}

// A record is a header and a state.
const (
	recordKey     = 0 // two words
	recordExpires = 2 // microseconds on the store's clock
	recordState   = 3

	firstRecords = 8
	pageRecords  = 1 << 14
	firstSlots   = 8
	maxRecords   = 1<<24 - 1
)

// hashKey stands for a policy's identity and a key. (A struct: Go keeps no array in
// registers.)
type hashKey struct{ a, b uint64 }

func (t *table) record(number int) []int64 {
	at := number % pageRecords * t.stride
	return t.pages[number/pageRecords][at : at+t.stride : at+t.stride]
}

func (t *table) state(record []int64) state { return state{record[recordState:], t.entries} }

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
	if t.live == t.room {
		t.grow()
	}
	number := t.live
	t.live++
	r := t.record(number)
	clear(r)
	r[0], r[1] = int64(key.a), int64(key.b)
	t.place(key, number)
	return number
}

// grow makes room for more records. The first page grows with its records, so that a
// small table is small.
func (t *table) grow() {
	if t.room < pageRecords {
		t.resize(max(firstRecords, 2*t.room))
		return
	}
	t.pages = append(t.pages, make([]int64, pageRecords*t.stride))
	t.room += pageRecords
}

// resize makes the first page anew, where it is the only one.
func (t *table) resize(records int) {
	page := make([]int64, records*t.stride)
	for _, old := range t.pages {
		copy(page, old)
	}
	t.pages, t.room = [][]int64{page}, records
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
	for number := range t.live {
		r := t.record(number)
		t.place(hashKey{uint64(r[0]), uint64(r[1])}, number)
	}
}

// slot is where a record is indexed.
func (t *table) slot(number int) int {
	at := t.home(uint64(t.record(number)[0]))
	for int(t.slots[at]&maxRecords)-1 != number {
		at = (at + 1) & (len(t.slots) - 1)
	}
	return at
}

// remove forgets a record, and moves the last one into its place.
func (t *table) remove(number int) {
	if t.entries != nil {
		t.state(t.record(number)).drop(maxCount)
	}
	t.vacate(t.slot(number))
	last := t.live - 1
	if number != last {
		slot := t.slot(last)
		copy(t.record(number), t.record(last))
		t.slots[slot] = t.slots[slot]&^maxRecords | uint32(number+1)
	}
	t.live--
	t.shrink()
}

// vacate empties a slot, and moves up those behind it that it kept from home.
func (t *table) vacate(hole int) {
	mask := len(t.slots) - 1
	for at := (hole + 1) & mask; t.slots[at] != 0; at = (at + 1) & mask {
		home := t.home(uint64(t.record(int(t.slots[at]&maxRecords) - 1)[0]))
		if (at-home)&mask >= (at-hole)&mask {
			t.slots[hole], hole = t.slots[at], at
		}
	}
	t.slots[hole] = 0
}

// shrink gives memory back, a little at a time.
func (t *table) shrink() {
	if t.live == 0 {
		*t = table{stride: t.stride, entries: t.entries}
		return
	}
	switch free := t.room - t.live; {
	case t.room > pageRecords && free > pageRecords+pageRecords/2:
		last := len(t.pages) - 1
		t.pages[last] = nil
		t.pages, t.room = t.pages[:last], t.room-pageRecords
	case t.room > firstRecords && t.room <= pageRecords && free > t.room/4*3:
		t.resize(t.room / 2)
	}
	if t.live*16 < len(t.slots) {
		t.index(len(t.slots) / 4)
	}
}

// sweep removes what has expired among some records, the last first, and reports
// whether it has come round.
func (t *table) sweep(now int64, records int) (done bool) {
	if t.cursor = min(t.cursor, t.live); t.cursor == 0 {
		t.cursor = t.live
	}
	end := max(0, t.cursor-records)
	for at := t.cursor - 1; at >= end; at-- {
		if t.record(at)[recordExpires] <= now {
			t.remove(at)
		}
	}
	t.cursor = end
	return end == 0
}
