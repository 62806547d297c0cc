package redisstore

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/ratelimit-go/ratelimit/core"
)

// format is the version of what is stored under a key.
const format = "2"

// longestPlain is the longest key that is written as it is.
const longestPlain = 64

// key is the name of a state's key: prefix:2:{key}:terms, where the braces are the
// hash tag, or prefix:2:{tag}{key}:terms with a tag for all. Neither prefix, tag nor
// key has a brace, so that no two states share a name.
func (s *Store) key(terms *core.Terms, key string) string {
	if s.tag != "" {
		return s.prefix + ":" + format + ":{" + s.tag + "}{" + safe(key) + "}:" + terms.ID
	}
	return s.prefix + ":" + format + ":{" + safe(key) + "}:" + terms.ID
}

// tagOf is the hash tag in a key's name.
func tagOf(name string) string {
	_, behind, _ := strings.Cut(name, "{")
	tag, _, _ := strings.Cut(behind, "}")
	return tag
}

// safe is a key as it may stand in a name: as it is if it is short and plain, else
// its hash behind a #.
func safe(key string) string {
	if len(key) <= longestPlain && plain(key) && key[0] != '#' {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return "#" + base64.RawURLEncoding.EncodeToString(sum[:])
}

// plain reports whether text is printable ASCII without spaces and braces, and not
// empty.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c > '~' || c == '{' || c == '}' {
			return false
		}
	}
	return text != ""
}

func mustBePlain(what, text string) {
	if !plain(text) {
		panic("ratelimit: redis " + what + " " + strconv.Quote(text) + ": give printable ASCII without spaces and braces")
	}
}
