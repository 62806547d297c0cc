package keyfuncs

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/ratelimit-go/ratelimit/core"
)

// Header counts by the value of a header field, such as X-API-Key, as a hash. Two
// lines of it are nothing found. It panics on an empty name.
func Header(name string) core.Key {
	mustName("Header", name)
	name = http.CanonicalHeaderKey(name)
	return func(r core.Request) (string, error) { return hashed(oneLine(r, name)) }
}

// BearerToken counts by the token of Authorization: Bearer (RFC 6750), as a hash.
func BearerToken() core.Key {
	return func(r core.Request) (string, error) { return hashed(credentials(r, "Bearer")) }
}

// BasicUser counts by the user name of Authorization: Basic (RFC 7617), which stays
// readable; the password is not looked at. Whether they fit is not checked: the
// client chooses the name.
func BasicUser() core.Key {
	return func(r core.Request) (string, error) {
		pair, err := base64.StdEncoding.DecodeString(credentials(r, "Basic"))
		if err != nil {
			return "", core.ErrNoKey
		}
		user, _, ok := strings.Cut(string(pair), ":")
		if !ok {
			return "", core.ErrNoKey
		}
		return orNone(user)
	}
}

// Cookie counts by the value of a cookie, such as a session's, as a hash. A cookie
// that is sent twice is nothing found. It panics on an empty name.
func Cookie(name string) core.Key {
	mustName("Cookie", name)
	return func(r core.Request) (string, error) { return hashed(oneCookie(r, name)) }
}

// oneCookie is the value of a cookie as net/http reads it, without quotes around
// it, or "" where there is not exactly one.
func oneCookie(r core.Request, name string) string {
	value, seen := "", false
	for _, line := range r.Header("Cookie") {
		for line != "" {
			var pair string
			pair, line, _ = strings.Cut(line, ";")
			key, text, _ := strings.Cut(trim(pair), "=")
			if trim(key) != name {
				continue
			}
			if seen {
				return ""
			}
			value, seen = unquote(trim(text)), true
		}
	}
	return value
}

// credentials are what follows the scheme in the one Authorization line, or "".
func credentials(r core.Request, scheme string) string {
	name, rest, _ := strings.Cut(oneLine(r, "Authorization"), " ")
	if !strings.EqualFold(name, scheme) {
		return ""
	}
	return trim(rest)
}

// oneLine is a header's value, or "" where it has not exactly one line.
func oneLine(r core.Request, name string) string {
	lines := r.Header(name)
	if len(lines) != 1 {
		return ""
	}
	return trim(lines[0])
}

// hashed is the first 128 bits of the secret's SHA-256 hash, in 22 characters.
func hashed(secret string) (string, error) {
	if secret == "" {
		return "", core.ErrNoKey
	}
	var room [64]byte // keeps the usual secret off the heap
	sum := sha256.Sum256(append(room[:0], secret...))
	var text [22]byte
	base64.RawURLEncoding.Encode(text[:], sum[:16])
	return string(text[:]), nil
}
