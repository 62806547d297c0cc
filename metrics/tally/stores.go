package tally

import (
	"context"
	"errors"
	"net"
	"reflect"
	"slices"

	"github.com/ratelimit-go/ratelimit/core"
)

// What a store may have to tell. Each is looked for at run time.
type (
	// Breaking stores stop asking a server that does not answer.
	Breaking interface{ BreakerOpen() bool }
	// Denying stores remember refusals, and count what they answer by them.
	Denying interface{ DenialHits() int64 }
	// ErrorKinds are stores that tell their errors apart, in a few words such as
	// "timeout"; "" is an error that the store does not know.
	ErrorKinds interface{ ErrorKind(err error) string }
)

// mostStores bounds what is watched where middlewares are made without end.
const mostStores = 1000

// Watch has a store's own numbers shown. A store is watched once, however often it
// is given; the stores of middlewares that are observed are given by themselves.
func (t *Tally) Watch(store core.Store) {
	if store == nil || !reflect.ValueOf(store).Comparable() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	known := *t.stores.Load()
	if len(known) >= mostStores || slices.Contains(known, store) {
		return
	}
	grown := append(slices.Clone(known), store)
	t.stores.Store(&grown)
}

// kindOf names an error in one of a few words.
func (t *Tally) kindOf(err error) string {
	for _, store := range *t.stores.Load() {
		if kinds, ok := store.(ErrorKinds); ok {
			if kind := kinds.ErrorKind(err); kind != "" {
				return kind
			}
		}
	}
	var network net.Error
	switch {
	case errors.Is(err, core.ErrClosed):
		return "closed"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "timeout"
	case errors.As(err, &network):
		return "network"
	}
	return "server"
}

// Stores are the sums over all stores that are watched.
type Stores struct {
	// Keys are the live keys, Overflows the requests that were counted together
	// because their store was full: of those in memory.
	Keys, Overflows int64
	// OpenBreakers are the stores that are not asked.
	OpenBreakers int64
	// DenialHits are the answers from remembered refusals.
	DenialHits int64
}

// ReadStores asks the stores.
func (t *Tally) ReadStores() (s Stores) {
	for _, store := range *t.stores.Load() {
		if memory, ok := store.(*core.Memory); ok {
			s.Keys += int64(memory.Len())
			s.Overflows += memory.Overflowed()
		}
		if breaking, ok := store.(Breaking); ok && breaking.BreakerOpen() {
			s.OpenBreakers++
		}
		if denying, ok := store.(Denying); ok {
			s.DenialHits += denying.DenialHits()
		}
	}
	return s
}
