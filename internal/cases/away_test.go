package cases_test

import (
	"context"
	"errors"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// nowhere is a store that does not answer.
type nowhere struct{}

var errNowhere = errors.New("nobody is there")

func (nowhere) Take(context.Context, time.Time, []core.Ask) error            { return errNowhere }
func (nowhere) Adjust(context.Context, time.Time, []core.Ask, []int64) error { return errNowhere }
func (nowhere) Reset(context.Context, *core.Terms, string) error             { return errNowhere }
func (nowhere) Block(context.Context, time.Time, *core.Terms, string, time.Duration) error {
	return errNowhere
}
