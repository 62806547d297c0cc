package core

import (
	"context"
	"errors"
	"strconv"
)

// ErrNoKey is returned by a [Key] that finds nothing in a request, as "" is. What
// happens then is the policy's NoKey.
var ErrNoKey = errors.New("ratelimit: no key in the request")

// Key says whom a request is counted against. "" or [ErrNoKey] is "found nothing";
// any other error fails the request and charges nothing. Keys are hostile input:
// any bytes of any length are safe.
type Key func(Request) (string, error)

// Request is what a key, a cost or a limit may ask of a request, whatever the
// framework. What it returns may be kept: no string is reused by the server. The
// Request itself may not: it serves another request once the function has returned.
type Request interface {
	// Context is the request's own context.
	Context() context.Context
	// Method is the request's method as it was sent.
	Method() string
	// Host is the host that the client named, with a port if it sent one.
	Host() string
	// Route is the registered method and pattern, as in "GET /users/:id", or ""
	// where nothing matches. An error says that the router cannot be seen.
	Route() (string, error)
	// Peer is the address at the other end of the connection, "host:port".
	Peer() string
	// Header gives all the lines of a header field, in the order of arrival.
	Header(name string) []string
	// Query is the first value of a query parameter, "" if there is none.
	Query(name string) string
	// Form is the first value of a form field in the body, "" if there is none.
	Form(name string) string
	// Native is the framework's own context, such as a *gin.Context or, for
	// net/http and chi, the *http.Request.
	Native() any
}

// Join counts a request against several keys together. No two lists of keys give
// the same joined key. Where one finds nothing, all do.
func Join(keys ...Key) Key {
	for _, key := range keys {
		if key == nil {
			panic("ratelimit: a nil key: give a core.Key, or leave By out for the peer's IP")
		}
	}
	switch len(keys) {
	case 0:
		panic("ratelimit: By() without a key: give one, or leave By out for the peer's IP")
	case 1:
		return keys[0]
	}
	return func(r Request) (string, error) {
		var joined []byte
		for _, key := range keys {
			part, err := key(r)
			if err != nil {
				return "", err
			}
			if part == "" {
				return "", ErrNoKey
			}
			// The length goes first, so that no part can pose as another's end.
			joined = strconv.AppendInt(joined, int64(len(part)), 10)
			joined = append(append(joined, ':'), part...)
		}
		return string(joined), nil
	}
}
