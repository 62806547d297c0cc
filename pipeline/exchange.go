package pipeline

import (
	"context"
	"fmt"
	"reflect"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/headers"
)

// Exchange is one request and its answer as the path sees them: what an adapter
// implements over its framework's context, by embedding a [Visit] or, where the
// framework stands on net/http, an [HTTP]. A pointer to a struct is expected, which
// is zero at first and may serve again, made zero, once [Path.Serve] has returned.
type Exchange interface {
	core.Request

	// SetContext makes ctx the request's context, for the handler and for inner
	// middlewares.
	SetContext(ctx context.Context)
	// SetFields sets header fields of the answer to one line each, and removes those
	// whose value is empty. The names are in the canonical form of net/http.
	SetFields(fields []headers.Field)
	// Answer writes an answer in place of the handler's.
	Answer(status int, body string)
	// OnRefused calls the user's function of that name, and reports whether it has
	// written an answer.
	OnRefused(r core.Result) (written bool)
	// OnError calls the user's function of that name, and reports whether it has
	// written an answer.
	OnError(err error) (written bool)
	// Next runs the handler. With watch it gives the status of its answer: what an
	// error of the handler will become, 0 where the handler took the connection over
	// and nothing is known.
	Next(watch bool) (status int)

	visit() *Visit
	open(alone, fields bool) *Visit
}

// KeyOf is a key from a framework's own context: what an adapter's Key returns.
// Used in another framework it gives an error that names both.
func KeyOf[C any](key func(C) (string, error)) core.Key {
	if key == nil {
		panic("ratelimit: Key(nil): give a function that returns the key")
	}
	return func(r core.Request) (string, error) {
		c, err := native[C](r)
		if err != nil {
			return "", err
		}
		return key(c)
	}
}

// UserOf is a key from a user that the framework's own context knows, false where
// there is none: what an adapter's User returns.
func UserOf[C any](user func(C) (string, bool)) core.Key {
	if user == nil {
		panic("ratelimit: User(nil): give a function that returns the user")
	}
	return KeyOf(func(c C) (string, error) {
		name, ok := user(c)
		if !ok {
			return "", core.ErrNoKey
		}
		return name, nil
	})
}

func native[C any](r core.Request) (C, error) {
	c, ok := r.Native().(C)
	if !ok {
		return c, fmt.Errorf("a key for %v in a request of %T: make it with the ratelimit package of the framework that serves", reflect.TypeFor[C](), r.Native())
	}
	return c, nil
}
