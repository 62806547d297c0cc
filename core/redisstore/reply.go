package redisstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// errReply is a reply that the script does not give.
var errReply = errors.New("ratelimit: redis: the script's reply cannot be read; is something between here and the server?")

// reply is what the script gives: numbers of 8 bytes each, and texts of errors. What has
// been read is taken off it.
type reply []byte

// answerNumbers is the length of one ask's answer in a reply.
const answerNumbers = 6

// exact bounds the numbers, which are whole.
const exact = 1 << 53

// number is the number at a place, -1 where there is none that the script can give.
func (r reply) number(at int) int64 {
	if len(r) < 8*(at+1) {
		return -1
	}
	n := math.Float64frombits(binary.LittleEndian.Uint64(r[8*at:]))
	if !(n >= 0 && n <= exact) {
		return -1
	}
	return int64(n)
}

// The first number of an answer.
const (
	refused = iota
	charged
	never
	allowed // without a charge
	failed
	blocked
)

// readAnswers reads the answer to one decision off the reply into its asks, and gives
// what is behind it. It changes none of the asks unless all can be read.
func readAnswers(r reply, asks []core.Ask) (rest reply, err error) {
	if r.number(0) == failed {
		return readFailure(r)
	}
	for i := range answerNumbers * len(asks) {
		if n := r.number(i); n < 0 || i%answerNumbers == 0 && (n == failed || n > blocked) {
			return nil, errReply
		}
	}
	for i := range asks {
		asks[i].Answer = answer(r[8*answerNumbers*i:], asks[i].Cost)
	}
	return r[8*answerNumbers*len(asks):], nil
}

func answer(r reply, cost int64) core.Answer {
	outcome := r.number(0)
	a := core.Answer{
		Allowed:    outcome == charged || outcome == allowed,
		Never:      outcome == never,
		Blocked:    outcome == blocked,
		Remaining:  r.number(1),
		ResetAfter: time.Duration(r.number(3)) * time.Microsecond,
	}
	wait := time.Duration(r.number(2)) * time.Microsecond
	if outcome == charged {
		a.Delay, a.Charged, a.ChargedAt, a.Turn = wait, cost, r.number(4), r.number(5)
	} else {
		a.RetryAfter = wait
	}
	return a
}

// readFailure reads the error of a decision that failed among others.
func readFailure(r reply) (rest reply, err error) {
	n := r.number(1)
	if n < 0 || n > int64(len(r)-16) {
		return nil, errReply
	}
	return r[16+n:], fmt.Errorf("ratelimit: redis: %s", r[16:16+n])
}

// done reads the reply to the other verbs, a 1 for each ask.
func done(r reply, asks int) error {
	if len(r) != 8*asks {
		return errReply
	}
	for i := range asks {
		if r.number(i) != 1 {
			return errReply
		}
	}
	return nil
}
