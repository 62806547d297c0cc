package core

// room is one algorithm: pure arithmetic over a state, in units and ticks. It
// reads no clock and takes no lock. A sixth algorithm is a new room of four
// files and a line in rooms.
type room struct {
	name   string // in the vectors and for people
	letter string // in the identity of a state
	arithmetic
}

type arithmetic interface {
	// check refuses what the algorithm does not have, and fills in t's Capacity
	// and Intervals.
	check(t *Terms, p Policy) error
	// words is the length of a state.
	words(t *Terms) int
	// read gives the state's time, what it counts at the later of that and now (in
	// units, or for the buckets in units x W), and whether it counts anything. What
	// follows is given the level, so that it is found once.
	read(t *Terms, s state, now int64) (since, level int64, counts bool)
	// life is the reset time of a state that counts something, read at its time.
	life(t *Terms, s state) int64
	// fit is the wait until n units (1 to the capacity) fit, 0 if they do at at,
	// and the delay of a shaping queue.
	fit(t *Terms, s state, at, level, n int64) (wait, delay int64)
	// charge adds n units at at, fit or not, and gives the level then and the turn
	// that they take.
	charge(t *Terms, s state, at, level, n int64) (then, turn int64)
	// owe adds at most n units as debt, while use stays within twice the capacity.
	owe(t *Terms, s state, at, level, n int64)
	// refund takes off n units that were charged at charged (ticks) as turn.
	refund(t *Terms, s state, n, charged, turn int64)
	// report is what remains at at, and the time until the state counts nothing.
	report(t *Terms, s state, at, level int64) (remaining, reset int64)
	// forget makes the state as if never seen.
	forget(s state)
}

// rooms is the registry, by Algorithm. script.lua has its twin.
var rooms = [...]room{
	SlidingWindowCounter: {"sliding_window_counter", "c", slidingCounter{}},
	FixedWindow:          {"fixed_window", "f", fixedWindow{}},
	SlidingWindowLog:     {"sliding_window_log", "l", slidingLog{}},
	TokenBucket:          {"token_bucket", "t", tokenBucket{}},
	LeakyBucket:          {"leaky_bucket", "q", leakyBucket{}},
}

// state is what a store keeps of one key under one policy. All zero is as if
// never seen.
type state struct {
	words   []int64
	entries *entryPool // where the log keeps its entries
}

// verdict is one evaluation of a state.
type verdict struct {
	at, ahead    int64 // the time that decides, and how far it is ahead of the clock
	level        int64 // what the state counts then
	forgotten    bool  // the state is as if never seen
	allowed      bool
	never        bool
	retry, delay int64
}

// evaluate says what n units meet in a state at now (ticks). It changes nothing.
// blockedFor is what is left of a block, longest the longest delay that the
// request accepts, negative for any.
func (v *verdict) evaluate(t *Terms, s state, now, n, longest, blockedFor int64) {
	*v = verdict{at: now, forgotten: true}
	since, level, counts := t.room.read(t, s, now)
	if counts && (since <= now || since-now <= t.room.life(t, s)) {
		v.level, v.forgotten = level, false
		if since > now { // the clock has stepped back: the state's time decides
			v.at, v.ahead = since, since-now
		}
	}
	if n > t.Capacity {
		v.never = true
		return
	}
	if n > 0 && !v.forgotten {
		v.retry, v.delay = t.room.fit(t, s, v.at, v.level, n)
	}
	if v.retry > 0 {
		v.retry += v.ahead
	}
	if v.delay > 0 {
		v.delay += v.ahead
		if longest >= 0 && v.delay > longest {
			v.retry = max(v.retry, v.delay-longest)
		}
	}
	v.retry = max(v.retry, blockedFor)
	v.allowed = v.retry == 0
}

// report is what remains in a state that counts, and when it resets on the clock.
func (t *Terms) report(s state, v *verdict) (remaining, reset int64) {
	remaining, reset = t.room.report(t, s, v.at, v.level)
	if reset > 0 {
		reset += v.ahead
	}
	return remaining, reset
}

// block is a key's block, in microseconds since the epoch.
type block struct{ from, until int64 }

// left is what is left of a block at now (ticks), in ticks. A block that begins
// after now was made before the clock stepped back and counts as none.
func (b block) left(t *Terms, now int64) int64 {
	if b.until == 0 || b.from/t.Tick > now {
		return 0
	}
	return max(0, ceilDiv(b.until, t.Tick)-now)
}

// ceilDiv is a / b rounded up, for a >= 0 and b > 0.
func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }
