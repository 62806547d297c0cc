package core

// The entries of a sliding-window log: times in microseconds, oldest first, in
// chunks of a pool without pointers. Eight bytes an entry and one link in sixteen.

const (
	chunkEntries = 15
	chunkWords   = chunkEntries + 1 // the last word links to the next chunk
	pageChunks   = 64
	entryWords   = 6
)

// What the words of a log's state are. The times of both ends spare a look at the
// chunks.
const (
	headChunk  = iota // number of the first chunk + 1; 0: none
	tailChunk         // number of the last chunk + 1
	headOffset        // where in the first chunk the oldest entry is
	entryCount
	oldestEntry
	newestEntry
)

// entryPool hands out chunks. Its store's lock guards it.
type entryPool struct {
	pages [][]int64
	free  int64 // number of the first free chunk + 1, linked like the others
	made  int64 // chunks ever made in pages
	live  int64
}

func (p *entryPool) chunk(number int64) []int64 {
	at := (number - 1) % pageChunks * chunkWords
	return p.pages[(number-1)/pageChunks][at : at+chunkWords : at+chunkWords]
}

func (p *entryPool) take() (number int64) {
	p.live++
	if number = p.free; number != 0 {
		p.free = p.chunk(number)[chunkEntries]
		p.chunk(number)[chunkEntries] = 0
		return number
	}
	if p.made%pageChunks == 0 {
		p.pages = append(p.pages, make([]int64, pageChunks*chunkWords))
	}
	p.made++
	return p.made
}

func (p *entryPool) give(number int64) {
	if p.live--; p.live == 0 {
		*p = entryPool{}
		return
	}
	p.chunk(number)[chunkEntries] = p.free
	p.free = number
}

func (s state) len() int64 { return s.words[entryCount] }

func (s state) newest() int64 { return s.words[newestEntry] }

// cursor stands at an entry.
type cursor struct {
	pool   *entryPool
	chunk  int64
	offset int64
}

// cursor stands at the i-th oldest entry.
func (s state) cursor(i int64) cursor {
	c := cursor{s.entries, s.words[headChunk], s.words[headOffset] + i}
	for c.offset >= chunkEntries {
		c.chunk, c.offset = c.pool.chunk(c.chunk)[chunkEntries], c.offset-chunkEntries
	}
	return c
}

func (c *cursor) entry() *int64 { return &c.pool.chunk(c.chunk)[c.offset] }

func (c *cursor) next() {
	if c.offset++; c.offset == chunkEntries {
		c.chunk, c.offset = c.pool.chunk(c.chunk)[chunkEntries], 0
	}
}

// entry is the i-th oldest.
func (s state) entry(i int64) int64 {
	c := s.cursor(i)
	return *c.entry()
}

// before is how many entries are earlier than edge. It passes over whole chunks.
func (s state) before(edge int64) (n int64) {
	if s.words[oldestEntry] >= edge {
		return 0
	}
	number, offset := s.words[headChunk], s.words[headOffset]
	for n < s.len() {
		chunk := s.entries.chunk(number)
		last := min(chunkEntries, offset+s.len()-n) // one past
		if chunk[last-1] >= edge {
			for chunk[offset] < edge {
				offset, n = offset+1, n+1
			}
			return n
		}
		n += last - offset
		number, offset = chunk[chunkEntries], 0
	}
	return n
}

// push adds n entries of one time. A coarser tick can put it below the newest:
// the order is kept.
func (s state) push(at, n int64) {
	if n <= 0 {
		return
	}
	if s.len() == 0 {
		s.words[oldestEntry] = at
	}
	at = max(at, s.newest())
	s.words[newestEntry] = at
	for range n {
		end := s.words[headOffset] + s.len()
		if s.words[headChunk] == 0 {
			s.words[headChunk] = s.entries.take()
			s.words[tailChunk] = s.words[headChunk]
		} else if end%chunkEntries == 0 && s.len() > 0 {
			added := s.entries.take()
			s.entries.chunk(s.words[tailChunk])[chunkEntries] = added
			s.words[tailChunk] = added
		}
		s.entries.chunk(s.words[tailChunk])[end%chunkEntries] = at
		s.words[entryCount]++
	}
}

// drop forgets the n oldest.
func (s state) drop(n int64) {
	if n <= 0 {
		return
	}
	if n >= s.len() {
		s.freeFrom(s.words[headChunk])
		clear(s.words)
		return
	}
	s.words[entryCount] -= n
	s.words[headOffset] += n
	for s.words[headOffset] >= chunkEntries {
		first := s.words[headChunk]
		s.words[headChunk] = s.entries.chunk(first)[chunkEntries]
		s.words[headOffset] -= chunkEntries
		s.entries.give(first)
	}
	s.words[oldestEntry] = s.entry(0)
}

// remove takes out at most n of the entries from low up to high, not including
// it, and closes the gap.
func (s state) remove(low, high, n int64) {
	from := s.before(low)
	n = min(n, s.before(high)-from)
	if n <= 0 {
		return
	}
	to, next := s.cursor(from), s.cursor(from+n)
	for range s.len() - from - n {
		*to.entry() = *next.entry()
		to.next()
		next.next()
	}
	s.truncate(s.len() - n)
	if s.len() > 0 {
		s.words[oldestEntry] = s.entry(0)
	}
}

// truncate keeps the n oldest.
func (s state) truncate(n int64) {
	if n == 0 {
		s.drop(s.len())
		return
	}
	last := s.cursor(n - 1)
	tail := s.entries.chunk(last.chunk)
	rest := tail[chunkEntries]
	tail[chunkEntries] = 0
	s.words[tailChunk], s.words[entryCount], s.words[newestEntry] = last.chunk, n, tail[last.offset]
	s.freeFrom(rest)
}

func (s state) freeFrom(number int64) {
	for number != 0 {
		next := s.entries.chunk(number)[chunkEntries]
		s.entries.give(number)
		number = next
	}
}
