package keyfuncs_test

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

func TestSecretsAreFoundAndHashed(t *testing.T) {
	secret := "s3cret"
	for _, c := range []struct {
		name  string
		key   core.Key
		lines []string
		want  string
	}{
		{"header", keyfuncs.Header("x-api-key"), []string{"X-API-Key", secret}, hashOf(secret)},
		{"header with spaces around", keyfuncs.Header("X-API-Key"), []string{"X-API-Key", " s3cret\t"}, hashOf(secret)},
		{"header, missing", keyfuncs.Header("X-API-Key"), nil, none},
		{"header, empty", keyfuncs.Header("X-API-Key"), []string{"X-API-Key", ""}, none},
		{"header, two lines", keyfuncs.Header("X-API-Key"), []string{"X-API-Key", secret, "X-Api-Key", "other"}, none},
		{"header, twice the same", keyfuncs.Header("X-API-Key"), []string{"X-API-Key", secret, "X-API-Key", secret}, none},

		{"bearer", keyfuncs.BearerToken(), []string{"Authorization", "Bearer s3cret"}, hashOf(secret)},
		{"bearer, any case, more spaces", keyfuncs.BearerToken(), []string{"Authorization", "bEARER   s3cret "}, hashOf(secret)},
		{"bearer, missing", keyfuncs.BearerToken(), nil, none},
		{"bearer, empty", keyfuncs.BearerToken(), []string{"Authorization", "Bearer "}, none},
		{"bearer, another scheme", keyfuncs.BearerToken(), []string{"Authorization", "Basic s3cret"}, none},
		{"bearer, a longer scheme", keyfuncs.BearerToken(), []string{"Authorization", "Bearers3cret"}, none},
		{"bearer, two lines", keyfuncs.BearerToken(), []string{"Authorization", "Bearer s3cret", "Authorization", "Bearer x"}, none},

		{"cookie", keyfuncs.Cookie("sid"), []string{"Cookie", "a=1; sid=s3cret; b=2"}, hashOf(secret)},
		{"cookie in quotes is the same", keyfuncs.Cookie("sid"), []string{"Cookie", `sid="s3cret"`}, hashOf(secret)},
		{"cookie without spaces", keyfuncs.Cookie("sid"), []string{"Cookie", "a=1;sid=s3cret;b"}, hashOf(secret)},
		{"cookie with an equals sign", keyfuncs.Cookie("sid"), []string{"Cookie", "sid=a=b"}, hashOf("a=b")},
		{"cookie in another line", keyfuncs.Cookie("sid"), []string{"Cookie", "a=1", "Cookie", "sid=s3cret"}, hashOf(secret)},
		{"cookie, missing", keyfuncs.Cookie("sid"), []string{"Cookie", "SID=s3cret; xsid=1; sidx=2"}, none},
		{"cookie, empty", keyfuncs.Cookie("sid"), []string{"Cookie", "sid="}, none},
		{"cookie, no value", keyfuncs.Cookie("sid"), []string{"Cookie", "sid"}, none},
		{"cookie twice", keyfuncs.Cookie("sid"), []string{"Cookie", "sid=s3cret; sid=x"}, none},
		{"cookie twice, first empty", keyfuncs.Cookie("sid"), []string{"Cookie", "sid=; sid=x"}, none},
		{"cookie twice in two lines", keyfuncs.Cookie("sid"), []string{"Cookie", "sid=s3cret", "Cookie", "sid=s3cret"}, none},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := keyOf(t, c.key, with(c.lines...))
			if got != c.want {
				t.Errorf("key %q, want %q", got, c.want)
			}
			if strings.Contains(got, secret) {
				t.Errorf("key %q shows the secret", got)
			}
		})
	}
}

func TestBasicUser(t *testing.T) {
	encoded := func(pair string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(pair)) }
	for _, c := range []struct{ name, authorization, want string }{
		{"user and password", encoded("anna:s3cret"), "anna"},
		{"a colon in the password", encoded("anna:s3:cret"), "anna"},
		{"scheme in lower case", "basic" + encoded("anna:")[5:], "anna"},
		{"no user", encoded(":s3cret"), none},
		{"no colon", encoded("anna"), none},
		{"not base64", "Basic anna:s3cret", none},
		{"another scheme", "Bearer YW5uYTo=", none},
		{"nothing", "", none},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := keyOf(t, keyfuncs.BasicUser(), with("Authorization", c.authorization)); got != c.want {
				t.Errorf("key %q, want %q", got, c.want)
			}
		})
	}
}
