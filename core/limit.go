package core

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrInvalid is wrapped by every error about a limit or a policy that cannot
// be built. The text names the field and the mend.
var ErrInvalid = errors.New("ratelimit: invalid")

// What a limit may be. Within these bounds every decision is exact in 53 bits,
// the integers that a Lua script on Redis can hold.
const (
	maxCount     = 1_000_000_000
	maxLogCount  = 1_000_000
	minPeriod    = time.Millisecond
	maxPeriod    = 366 * 24 * time.Hour
	maxDrain     = 50 * 366 * 24 * int64(time.Hour/time.Microsecond) // microseconds
	maxIntervals = 100
	maxExact     = int64(1) << 52 // twice the largest use is exact too
)

// Limit is how many units pass in how much time: Count units in each Period.
// The zero Limit is not legal; [Unlimited] and [Blocked] are.
//
// As text it reads "100/minute", "10/s burst 20", "5 per 30s", "unlimited" or
// "blocked" (see [ParseLimit]), also in JSON, YAML and environment configuration
// through [Limit.UnmarshalText].
type Limit struct {
	// Count is the number of units, 1 to 1e9 (1e6 for the sliding-window log).
	Count int64
	// Period is the time they are for, 1 ms to 366 days in whole microseconds.
	Period time.Duration
	// Burst is the capacity of a token bucket or the length of a leaky bucket's
	// queue, in units. Zero is Count. The other algorithms have none.
	Burst int64

	kind limitKind
}

type limitKind uint8

const (
	metered limitKind = iota
	unlimited
	blocked
)

// Unlimited is the limit that admits everything. Nothing is stored for it and
// it has no item in the header fields.
func Unlimited() Limit { return Limit{kind: unlimited} }

// Blocked is the limit that refuses everything, for ever: there is no
// Retry-After.
func Blocked() Limit { return Limit{kind: blocked} }

// IsUnlimited reports whether l is [Unlimited].
func (l Limit) IsUnlimited() bool { return l.kind == unlimited }

// IsBlocked reports whether l is [Blocked].
func (l Limit) IsBlocked() bool { return l.kind == blocked }

// Err says what is wrong with the limit, or nil. It wraps [ErrInvalid]. What a
// limit must fulfil for one algorithm only is told by [Policy.Err].
func (l Limit) Err() error {
	switch {
	case l.kind != metered:
		return nil
	case l.Count < 1 || l.Count > maxCount:
		return invalid("limit count %d: give 1 to %d (core.Blocked() refuses everything, core.Unlimited() admits it)", l.Count, maxCount)
	case l.Period < minPeriod || l.Period > maxPeriod:
		return invalid("limit period %v: give 1ms to 8784h (a bare number is nanoseconds; write 60*time.Second)", l.Period)
	case l.Period%time.Microsecond != 0:
		return invalid("limit period %v: give whole microseconds", l.Period)
	case l.Burst < 0 || l.Burst > maxCount:
		return invalid("limit burst %d: give 1 to %d, or 0 for the count", l.Burst, maxCount)
	}
	return nil
}

// String is the limit as [ParseLimit] reads it.
func (l Limit) String() string {
	switch l.kind {
	case unlimited:
		return "unlimited"
	case blocked:
		return "blocked"
	}
	text := strconv.FormatInt(l.Count, 10) + "/" + periodText(l.Period)
	if l.Burst > 0 {
		text += " burst " + strconv.FormatInt(l.Burst, 10)
	}
	return text
}

func periodText(d time.Duration) string {
	for _, unit := range periodUnits {
		if d == unit.length {
			return unit.names[0]
		}
	}
	return d.String()
}

// periodUnits are fixed lengths: a day is 24 hours whatever the clocks do.
var periodUnits = []struct {
	length time.Duration
	names  []string // the first is the one that String writes
}{
	{time.Second, []string{"second", "seconds", "sec", "s"}},
	{time.Minute, []string{"minute", "minutes", "min", "m"}},
	{time.Hour, []string{"hour", "hours", "h"}},
	{24 * time.Hour, []string{"day", "days", "d"}},
	{7 * 24 * time.Hour, []string{"week", "weeks", "w"}},
}

// ParseLimit reads a limit from text: a count, "/" or "per", a period, and for
// the buckets a burst.
//
//	100/minute     10/s burst 20     5 per 30s     unlimited     blocked
//
// Letters may be large, and a comma may stand before burst. A period is second, minute, hour, day (24 hours) or week (7 days), their usual
// short forms, or a Go duration such as 1m30s. The error wraps [ErrInvalid].
func ParseLimit(text string) (Limit, error) {
	plain := strings.ToLower(strings.Replace(text, ",", " ", 1))
	words := strings.Fields(strings.Replace(plain, "/", " / ", 1))
	if len(words) == 1 && words[0] == "unlimited" {
		return Unlimited(), nil
	}
	if len(words) == 1 && words[0] == "blocked" {
		return Blocked(), nil
	}
	if len(words) != 3 && len(words) != 5 || words[1] != "/" && words[1] != "per" {
		return Limit{}, invalid("limit %s: write it as \"100/minute\", \"5 per 30s\" or \"10/s burst 20\"", quoted(text))
	}
	l, err := parseWords(words)
	if err == nil {
		err = l.Err()
	}
	if err != nil {
		return Limit{}, fmt.Errorf("%w (in %s)", err, quoted(text))
	}
	return l, nil
}

func parseWords(words []string) (l Limit, err error) {
	if l.Count, err = parseUnits("count", words[0]); err != nil {
		return Limit{}, err
	}
	if l.Period, err = parsePeriod(words[2]); err != nil {
		return Limit{}, err
	}
	if len(words) == 3 {
		return l, nil
	}
	if words[3] != "burst" {
		return Limit{}, invalid("%s: only \"burst\" may follow the period", quoted(words[3]))
	}
	if l.Burst, err = parseUnits("burst", words[4]); err != nil {
		return Limit{}, err
	}
	return l, nil
}

// parseUnits reads a number of at least 1: a written zero is never a default.
func parseUnits(field, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, invalid("%s %s: give a whole number of at least 1", field, quoted(text))
	}
	return n, nil
}

func parsePeriod(text string) (time.Duration, error) {
	for _, unit := range periodUnits {
		for _, name := range unit.names {
			if text == name {
				return unit.length, nil
			}
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, invalid("period %s: give second, minute, hour, day, week or a duration such as 30s", quoted(text))
	}
	return d, nil
}

// MarshalText writes the limit as [ParseLimit] reads it.
func (l Limit) MarshalText() ([]byte, error) {
	if err := l.Err(); err != nil {
		return nil, err
	}
	return []byte(l.String()), nil
}

// UnmarshalText reads the limit as [ParseLimit] does.
func (l *Limit) UnmarshalText(text []byte) error {
	parsed, err := ParseLimit(string(text))
	if err != nil {
		return err
	}
	*l = parsed
	return nil
}

// capacity is the most units that can be admitted at once, where the algorithm
// has a burst.
func (l Limit) capacity() int64 {
	if l.Burst > 0 {
		return l.Burst
	}
	return l.Count
}

// tick is the unit of time in which a limit is decided: the finest of 1 us,
// 1 ms and 1 s of which the period (and the counter's interval) is a whole
// number and in which units x period stays exact. Zero if there is none.
func tick(units, period, interval int64) int64 {
	for _, t := range [...]int64{1, 1_000, 1_000_000} {
		if period%t == 0 && interval%t == 0 && units <= maxExact/(period/t) {
			return t
		}
	}
	return 0
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w "+format, append([]any{ErrInvalid}, args...)...)
}

// quoted bounds hostile or huge text before it goes into an error.
func quoted(text string) string {
	const most = 64
	if len(text) > most {
		return strconv.Quote(text[:most]) + "..."
	}
	return strconv.Quote(text)
}
