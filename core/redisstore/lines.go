package redisstore

import (
	"sync"
	"sync/atomic"

	"github.com/ratelimit-go/ratelimit/core"
)

// mostLines bounds the terms whose lines are kept ready: a limit chosen for each
// request can be any.
const mostLines = 10_000

// lines are terms as the script reads them, made once.
type lines struct {
	known sync.Map // *core.Terms -> any that holds a string
	count atomic.Int64
}

func (l *lines) of(t *core.Terms) any {
	if known, ok := l.known.Load(t); ok {
		return known
	}
	made := any(line(t))
	if l.count.Add(1) <= mostLines {
		l.known.Store(t, made)
	}
	return made
}
