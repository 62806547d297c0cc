package keyfuncs

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/ratelimit-go/ratelimit/core"
)

// All counts all requests together.
func All() core.Key {
	return func(core.Request) (string, error) { return "all", nil }
}

// User counts by the identity that authentication has put into the request's
// context: of returns it, or false where there is none. It stays readable. The
// limiter must run after the authentication. It panics on nil.
func User(of func(context.Context) (string, bool)) core.Key {
	if of == nil {
		panic("ratelimit: keyfuncs.User(nil): give the function that reads the user from the context")
	}
	return func(r core.Request) (string, error) {
		user, ok := of(r.Context())
		if !ok {
			return "", core.ErrNoKey
		}
		return orNone(user)
	}
}

// Query counts by the first value of a query parameter, which stays readable. The
// client chooses it. It panics on an empty name.
func Query(name string) core.Key {
	mustName("Query", name)
	return func(r core.Request) (string, error) { return orNone(r.Query(name)) }
}

// Form counts by the first value of a form field in the body, such as the user
// name of a login, which stays readable. The client chooses it. It panics on an
// empty name.
func Form(name string) core.Key {
	mustName("Form", name)
	return func(r core.Request) (string, error) { return orNone(r.Form(name)) }
}

// Host counts by the host that the client named, in lower case and without port
// and trailing dot. The client chooses it where nothing in front checks it.
func Host() core.Key {
	return func(r core.Request) (string, error) { return orNone(hostname(r.Host())) }
}

func hostname(host string) string {
	if colon := strings.LastIndexByte(host, ':'); colon > strings.LastIndexByte(host, ']') {
		host = host[:colon]
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// Method counts by the request's method. All methods that HTTP does not define
// (RFC 9110 section 9, RFC 5789) are one key, "other": a client could invent any
// number.
func Method() core.Key {
	return func(r core.Request) (string, error) {
		switch method := r.Method(); method {
		case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT":
			return method, nil
		}
		return "other", nil
	}
}

// Route counts by the registered method and pattern, as in "GET /users/:id": all
// ids together, and all that no route serves together. The error of a router that
// cannot be seen passes through.
func Route() core.Key {
	return func(r core.Request) (string, error) {
		route, err := r.Route()
		if err != nil {
			return "", err
		}
		if route == "" {
			return "unmatched", nil // a pattern has a slash
		}
		return route, nil
	}
}

// First counts by the first of several keys that is found, as in
// First(BearerToken(), IP()). The keys of one alternative are never those of
// another: a token that reads like an address is not that address. An error other
// than [core.ErrNoKey] passes through. It panics without a key, and on nil.
func First(keys ...core.Key) core.Key {
	if len(keys) == 0 {
		panic("ratelimit: keyfuncs.First(): give at least one key")
	}
	prefixes := make([]string, len(keys))
	for i, key := range keys {
		if key == nil {
			panic("ratelimit: keyfuncs.First: key " + strconv.Itoa(i) + " is nil: leave it out")
		}
		prefixes[i] = "\x00" + strconv.Itoa(i) + ":"
	}
	return func(r core.Request) (string, error) {
		for i, key := range keys {
			text, err := key(r)
			switch {
			case err != nil && !errors.Is(err, core.ErrNoKey):
				return "", err
			case err != nil || text == "":
				continue
			case i == 0 && text[0] != 0:
				return text, nil // the usual case without a prefix, and a space of its own
			}
			return prefixes[i] + text, nil
		}
		return "", core.ErrNoKey
	}
}

func orNone(key string) (string, error) {
	if key == "" {
		return "", core.ErrNoKey
	}
	return key, nil
}

func mustName(function, name string) {
	if name == "" {
		panic("ratelimit: keyfuncs." + function + `(""): give the name`)
	}
}
