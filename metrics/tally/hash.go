package tally

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"sync"
)

// secret is this process's own, so that a key that could be guessed cannot be found
// by its hash.
var secret = sync.OnceValue(func() []byte {
	made := make([]byte, 32)
	_, _ = rand.Read(made) // never fails
	return made
})

// KeyHash stands for a key where the key itself must not be read: 16 hex digits,
// the same for the life of this process and unlike in any other.
func KeyHash(key string) string {
	mac := hmac.New(sha256.New, secret())
	mac.Write([]byte(key))
	return hex.EncodeToString(mac.Sum(nil)[:8])
}
