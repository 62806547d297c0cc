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
const answerWords = 8

// answers reads the reply to a take into the asks. It changes none of them unless
// all can be read.
func answers(reply any, asks []core.Ask) error {
	words, ok := reply.([]any)
	if !ok || len(words) != answerWords*len(asks) {
		return fmt.Errorf("%w (%T)", errReply, reply)
	}
	numbers := make([]int64, len(words))
	for i, word := range words {
		if numbers[i], ok = word.(int64); !ok || numbers[i] < 0 {
			return fmt.Errorf("%w (word %d is %T)", errReply, i, word)
		}
	}
	for i := range asks {
		asks[i].Answer = answer(numbers[answerWords*i:])
	}
	return nil
}

func answer(w []int64) core.Answer {
	return core.Answer{
		Allowed:    w[0] == 1,
		Never:      w[0] == 2,
		Remaining:  w[1],
		RetryAfter: time.Duration(w[2]) * time.Microsecond,
		ResetAfter: time.Duration(w[3]) * time.Microsecond,
		Delay:      time.Duration(w[4]) * time.Microsecond,
		Charged:    w[5],
		ChargedAt:  w[6],
		Turn:       w[7],
	}
}

// done reads the reply to the other verbs.
func done(reply any) error {
	if words, ok := reply.([]any); ok && len(words) == 1 && words[0] == int64(1) {
		return nil
	}
	return fmt.Errorf("%w (%T)", errReply, reply)
}
