package redisstore

import (
	"errors"
	"fmt"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// errReply is a reply that the script does not give.
var errReply = errors.New("ratelimit: redis: the script's reply cannot be read; is something between here and the server?")

// answerWords is the length of one ask's answer in a reply.
const answerWords = 6

// The first word of an answer.
const (
	refused = iota
	charged
	never
	allowed // without a charge
	failed
	blocked
)

// readAnswers reads the answer to one decision off the words into its asks, and
// gives the words behind it. It changes none of the asks unless all can be read.
func readAnswers(words []int64, asks []core.Ask) (rest []int64, err error) {
	if len(words) > 1 && words[0] == failed {
		return readFailure(words[1:])
	}
	n := answerWords * len(asks)
	if len(words) < n {
		return nil, errReply
	}
	for i, word := range words[:n] {
		if word < 0 || i%answerWords == 0 && (word == failed || word > blocked) {
			return nil, errReply
		}
	}
	for i := range asks {
		asks[i].Answer = answer(words[answerWords*i:], asks[i].Cost)
	}
	return words[n:], nil
}

func answer(w []int64, cost int64) core.Answer {
	a := core.Answer{
		Allowed:    w[0] == charged || w[0] == allowed,
		Never:      w[0] == never,
		Blocked:    w[0] == blocked,
		Remaining:  w[1],
		ResetAfter: time.Duration(w[3]) * time.Microsecond,
	}
	wait := time.Duration(w[2]) * time.Microsecond
	if w[0] == charged {
		a.Delay, a.Charged, a.ChargedAt, a.Turn = wait, cost, w[4], w[5]
	} else {
		a.RetryAfter = wait
	}
	return a
}

// readFailure reads the error of a decision that failed among others.
func readFailure(words []int64) (rest []int64, err error) {
	n := words[0]
	if n < 0 || n > int64(len(words)-1) {
		return nil, errReply
	}
	text := make([]byte, n)
	for i := range text {
		text[i] = byte(words[1+i])
	}
	return words[1+n:], fmt.Errorf("ratelimit: redis: %s", text)
}

// done reads the reply to the other verbs.
func done(words []int64) error {
	if len(words) == 1 && words[0] == 1 {
		return nil
	}
	return errReply
}
