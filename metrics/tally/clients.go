package tally

import (
	"math"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	setBits = 6
	sets    = 1 << setBits
	ways    = 8

	// longestKey bounds what is kept of a key that a client has written. Of a longer
	// one its hash is kept.
	longestKey = 256
)

// clients are the most refused clients of one policy, at most 512 of them whatever
// the number that comes. It is the Space-Saving sketch of Metwally, Agrawal and El
// Abbadi (2005), cut by a secret hash into 64 sets of 8 counters, so that one set is
// searched and locked and not all: a client that is not yet counted takes the place
// of the least refused one of its set, and its count. So a client with more than an
// eighth of its set's refusals is always there, and a count is at most too high by
// the one that was taken over.
//
// Counts halve each minute, so that who was heavy an hour ago makes room.
type clients struct {
	some atomic.Bool // one has been refused, ever: until then there is nobody to look for
	sets [sets]clientSet
}

type clientSet struct {
	mu     sync.Mutex          // guards who is in the slots, and what is carried
	hashes [ways]atomic.Uint64 // of who is in the slots, 0: free; one cache line to search
	slots  [ways]slot
}

// slot is one client that is counted. What is counted for a client while another
// takes its slot may go to the other.
type slot struct {
	passed, refused atomic.Int64
	carriedPassed   int64 // of passed and refused, what is of earlier minutes
	carriedRefused  int64
	key             string
	hashed          bool // key is the KeyHash of a long one
}

// note counts a request of a client, known by the hash of its key. Only who is
// refused comes in.
func (c *clients) note(hash uint64, key string, refused bool) {
	if !refused && !c.some.Load() {
		return
	}
	set := &c.sets[hash>>(64-setBits)]
	for i := range set.hashes {
		if set.hashes[i].Load() == hash {
			set.slots[i].count(refused)
			return
		}
	}
	if refused {
		set.take(hash, key)
		c.some.Store(true)
	}
}

func (s *slot) count(refused bool) {
	if refused {
		s.refused.Add(1)
		return
	}
	s.passed.Add(1)
}

// take gives a refused client the slot of the least refused.
func (set *clientSet) take(hash uint64, key string) {
	set.mu.Lock()
	defer set.mu.Unlock()
	place, fewest := 0, int64(math.MaxInt64)
	for i := range set.slots {
		s := &set.slots[i]
		if set.hashes[i].Load() == hash { // it came in meanwhile
			s.count(true)
			return
		}
		if n := s.refused.Load(); n < fewest {
			place, fewest = i, n
		}
	}
	least := &set.slots[place]
	least.key, least.hashed = strings.Clone(key), false
	if len(key) > longestKey {
		least.key, least.hashed = KeyHash(key), true
	}
	least.carriedPassed, least.carriedRefused = 0, fewest
	least.passed.Store(0)
	least.refused.Store(fewest + 1)
	set.hashes[place].Store(hash)
}

// minute ends a minute: it tells the share of refusals of each client that has
// asked in it, and halves the counts.
func (c *clients) minute(share func(refused, asked int64)) {
	for i := range c.sets {
		set := &c.sets[i]
		set.mu.Lock()
		for j := range set.slots {
			if set.hashes[j].Load() != 0 && !set.slots[j].minute(share) {
				set.hashes[j].Store(0)
			}
		}
		set.mu.Unlock()
	}
}

// minute ends a minute, and reports whether the client stays.
func (s *slot) minute(share func(refused, asked int64)) (stays bool) {
	refused, passed := s.refused.Load(), s.passed.Load()
	newly := refused - s.carriedRefused
	if asked := newly + passed - s.carriedPassed; asked > 0 {
		share(newly, asked)
	}
	s.carriedRefused, s.carriedPassed = refused/2, passed/2
	s.refused.Add(s.carriedRefused - refused)
	s.passed.Add(s.carriedPassed - passed)
	if s.carriedRefused == 0 {
		s.key = ""
	}
	return s.carriedRefused > 0
}

// list appends all that are counted.
func (c *clients) list(policy string, all []Client) []Client {
	for i := range c.sets {
		set := &c.sets[i]
		set.mu.Lock()
		for j := range set.slots {
			if set.hashes[j].Load() != 0 {
				all = append(all, set.slots[j].client(policy))
			}
		}
		set.mu.Unlock()
	}
	return all
}

func (s *slot) client(policy string) Client {
	c := Client{Policy: policy, Hash: s.key, Refused: s.refused.Load(), Passed: s.passed.Load()}
	if !s.hashed {
		c.Key, c.Hash = s.key, KeyHash(s.key)
	}
	return c
}
