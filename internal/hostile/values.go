package hostile

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

// Value is one request, as it goes over the wire, and what a key finds in it.
type Value struct {
	Name string
	// Key is asked.
	Key core.Key
	// Method and Target are those of the request line.
	Method, Target string
	// Lines are header lines, all but Content-Length.
	Lines []string
	// Body is sent as it stands.
	Body string
	// Want is the key, "" for nothing found.
	Want string
	// Malformed is set where a server may answer 400 by itself.
	Malformed bool
}

// Values are the cases.
func Values() []Value {
	var all []Value
	for _, some := range [][]Value{headers(), cookies(), queries(), forms(), hosts()} {
		all = append(all, some...)
	}
	return all
}

// Hash is how a secret is kept.
func Hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

func hashOf(secret string) string {
	if secret == "" {
		return ""
	}
	return Hash(secret)
}

func headers() (all []Value) {
	long := strings.Repeat("k", 3000)
	for _, c := range []struct {
		name  string
		key   core.Key
		lines []string
		want  string // in clear
	}{
		{"header", keyfuncs.Header("X-API-Key"), []string{"X-API-Key: k"}, "k"},
		{"header in small letters", keyfuncs.Header("X-API-Key"), []string{"x-api-key: k"}, "k"},
		{"header missing", keyfuncs.Header("X-API-Key"), nil, ""},
		{"header empty", keyfuncs.Header("X-API-Key"), []string{"X-API-Key:"}, ""},
		{"header of spaces", keyfuncs.Header("X-API-Key"), []string{"X-API-Key: \t  "}, ""},
		{"header with spaces around", keyfuncs.Header("X-API-Key"), []string{"X-API-Key: \t k \t"}, "k"},
		{"header without a space", keyfuncs.Header("X-API-Key"), []string{"X-API-Key:k"}, "k"},
		{"header twice", keyfuncs.Header("X-API-Key"), []string{"X-API-Key: k", "X-API-Key: l"}, ""},
		{"header twice, once empty", keyfuncs.Header("X-API-Key"), []string{"X-API-Key:", "X-API-Key: l"}, ""},
		{"header twice in other letters", keyfuncs.Header("X-API-Key"), []string{"X-API-Key: k", "x-api-key: k"}, ""},
		{"header with an underscore", keyfuncs.Header("X-API-Key"), []string{"X_API_Key: k"}, ""},
		{"header with a longer name", keyfuncs.Header("X-API-Key"), []string{"X-API-Keys: k", "XX-API-Key: k"}, ""},
		{"header with a comma", keyfuncs.Header("X-API-Key"), []string{"X-API-Key: k, l"}, "k, l"},
		{"header of bytes above ASCII", keyfuncs.Header("X-API-Key"), []string{"X-API-Key: \xff\xfe\xc3\xa9"}, "\xff\xfe\xc3\xa9"},
		{"header with a tab inside", keyfuncs.Header("X-API-Key"), []string{"X-API-Key: k\tl"}, "k\tl"},
		{"header that is long", keyfuncs.Header("X-API-Key"), []string{"X-API-Key: " + long}, long},
		{"bearer", keyfuncs.BearerToken(), []string{"Authorization: Bearer k"}, "k"},
		{"bearer in other letters", keyfuncs.BearerToken(), []string{"authorization: bEARER  k"}, "k"},
		{"bearer twice", keyfuncs.BearerToken(), []string{"Authorization: Bearer k", "Authorization: Bearer k"}, ""},
		{"bearer without a token", keyfuncs.BearerToken(), []string{"Authorization: Bearer"}, ""},
		{"bearer of another scheme", keyfuncs.BearerToken(), []string{"Authorization: Basic k"}, ""},
	} {
		all = append(all, Value{Name: c.name, Key: c.key, Method: "GET", Target: "/", Lines: append([]string{"Host: h"}, c.lines...), Want: hashOf(c.want)})
	}
	for _, c := range [][2]string{
		{"Basic YW5uYTpzM2NyZXQ=", "anna"}, {"basic YW5uYTo=", "anna"}, {"Basic OnMzY3JldA==", ""}, {"Basic YW5uYQ==", ""},
		{"Basic anna:s3cret", ""}, {"Basic /////w==", ""}, {"Basic AAA6", "\x00\x00"}, {"Basic", ""},
	} {
		all = append(all, Value{Name: "user of " + c[0], Key: keyfuncs.BasicUser(), Method: "GET", Target: "/", Lines: []string{"Host: h", "Authorization: " + c[0]}, Want: c[1]})
	}
	return all
}

func cookies() (all []Value) {
	for _, c := range []struct {
		name, want string
		lines      []string
	}{
		{"cookie", "k", []string{"sid=k"}},
		{"cookie among others", "k", []string{"a=1; sid=k; b=2"}},
		{"cookie without spaces", "k", []string{"a=1;sid=k;b"}},
		{"cookie in quotes", "k", []string{`sid="k"`}},
		{"cookie with an equals sign", "a=b", []string{"sid=a=b"}},
		{"cookie in another line", "k", []string{"a=1", "sid=k"}},
		{"cookie of another case", "", []string{"SID=k; Sid=k"}},
		{"cookie of a longer name", "", []string{"xsid=k; sidx=k; sid.=k"}},
		{"cookie empty", "", []string{"sid="}},
		{"cookie without a value", "", []string{"sid"}},
		{"cookie twice", "", []string{"sid=k; sid=l"}},
		{"cookie twice the same", "", []string{"sid=k; sid=k"}},
		{"cookie twice, the first empty", "", []string{"sid=; sid=k"}},
		{"cookie twice in two lines", "", []string{"sid=k", "sid=k"}},
		{"cookie of separators", "", []string{";;; ; =; ==k;"}},
		{"cookie with a name in spaces", "k", []string{" sid = k "}},
		{"cookie with a comma", "k,sid=l", []string{"sid=k,sid=l"}},
		{"cookie of bytes above ASCII", "\xff\xfe", []string{"sid=\xff\xfe"}},
		{"cookie percent-encoded", "%6b", []string{"sid=%6b"}},
	} {
		lines := []string{"Host: h"}
		for _, line := range c.lines {
			lines = append(lines, "Cookie: "+line)
		}
		all = append(all, Value{Name: c.name, Key: keyfuncs.Cookie("sid"), Method: "GET", Target: "/", Lines: lines, Want: hashOf(c.want)})
	}
	return all
}

func queries() (all []Value) {
	for _, c := range [][2]string{
		{"q=k", "k"}, {"q=k&q=l", "k"}, {"q=&q=l", ""}, {"q", ""}, {"q=", ""}, {"", ""}, {"Q=k", ""}, {"q[]=k", ""}, {"xq=k&qx=k", ""},
		{"%71=k", "k"}, {"q=%6b", "k"}, {"q=%6B", "k"}, {"q=a+b", "a b"}, {"q=a%2Bb", "a+b"}, {"q=a%26q=b", "a&q=b"}, {"&&q=k&", "k"}, {"?q=k", ""},
		{"q=a=b", "a=b"}, {"q=%00", "\x00"}, {"q=%C3%A9", "é"}, {"q=%ff", "\xff"}, {"x=%26q=l&q=k", "k"},
		{"q=%zz", ""}, {"q=%", ""}, {"q=k;l", ""}, {"x=%zz&q=k", "k"}, {"x;q=k", ""},
		{"q=" + strings.Repeat("k", 3000), strings.Repeat("k", 3000)},
	} {
		all = append(all, Value{Name: "query " + c[0][:min(len(c[0]), 20)], Key: keyfuncs.Query("q"), Method: "GET", Target: "/?" + c[0], Lines: []string{"Host: h"}, Want: c[1]})
	}
	return all
}

const (
	encoded   = "application/x-www-form-urlencoded"
	multipart = "multipart/form-data; boundary=b"
)

func part(disposition, value string) string {
	return "--b\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + value + "\r\n"
}

func forms() (all []Value) {
	long := strings.Repeat("x", 1<<20)
	for _, c := range []struct{ name, method, kind, body, want string }{
		{"form", "POST", encoded, "user=k", "k"},
		{"form of PUT", "PUT", encoded, "user=k", "k"},
		{"form of PATCH", "PATCH", encoded, "user=k", "k"},
		{"form of DELETE", "DELETE", encoded, "user=k", ""},
		{"form with a charset", "POST", encoded + "; charset=utf-8", "user=k", "k"},
		{"form in capitals", "POST", "Application/X-WWW-Form-Urlencoded", "user=k", "k"},
		{"form twice", "POST", encoded, "user=k&user=l", "k"},
		{"form twice, the first empty", "POST", encoded, "user=&user=l", ""},
		{"form percent-encoded", "POST", encoded, "%75ser=%6b+%2B", "k +"},
		{"form badly encoded", "POST", encoded, "user=%zz", ""},
		{"form with a semicolon", "POST", encoded, "user=k;l", ""},
		{"form badly encoded elsewhere", "POST", encoded, "x=%zz&user=k", "k"},
		{"form without the field", "POST", encoded, "User=k&xuser=k", ""},
		{"form of zero bytes", "POST", encoded, "user=%00", "\x00"},
		{"form below the bound", "POST", encoded, "x=" + long[:1<<19] + "&user=k", "k"},
		{"form above the bound", "POST", encoded, "user=k&x=" + long, ""},
		{"form without a type", "POST", "", "user=k", ""},
		{"form of another type", "POST", "application/json", `{"user":"k"}`, ""},
		{"form of a longer type", "POST", encoded + "x", "user=k", ""},
		{"form of no type", "POST", ";;;", "user=k", ""},
		{"parts", "POST", multipart, part(`name="user"`, "k") + "--b--\r\n", "k"},
		{"parts in capitals", "POST", "Multipart/Form-Data; boundary=b", part(`name="user"`, "k") + "--b--\r\n", "k"},
		{"parts twice", "POST", multipart, part(`name="user"`, "k") + part(`name="user"`, "l") + "--b--\r\n", "k"},
		{"parts with a file of that name", "POST", multipart, part(`name="user"; filename="f"`, "x") + part(`name="user"`, "k") + "--b--\r\n", "k"},
		{"parts without the field", "POST", multipart, part(`name="User"`, "k") + "--b--\r\n", ""},
		{"parts empty", "POST", multipart, part(`name="user"`, "") + "--b--\r\n", ""},
		{"parts without a boundary", "POST", "multipart/form-data", part(`name="user"`, "k") + "--b--\r\n", ""},
		{"parts that are none", "POST", multipart, "user=k", ""},
		{"parts that do not end", "POST", multipart, "--b\r\nContent-Disposition: form-data; name=\"user\"\r\n\r\nk", ""},
	} {
		lines := []string{"Host: h"}
		if c.kind != "" {
			lines = append(lines, "Content-Type: "+c.kind)
		}
		all = append(all, Value{Name: c.name, Key: keyfuncs.Form("user"), Method: c.method, Target: "/?user=query", Lines: lines, Body: c.body, Want: c.want, Malformed: strings.HasPrefix(c.name, "parts")})
	}
	return all
}

func hosts() (all []Value) {
	for _, c := range [][2]string{
		{"example.com", "example.com"}, {"EXAMPLE.com:8080", "example.com"}, {"example.com.", "example.com"}, {"example.com.:80", "example.com"},
		{"[::1]:80", "[::1]"}, {"[::1]", "[::1]"}, {"127.0.0.1:80", "127.0.0.1"}, {"", ""}, {":80", ""},
	} {
		all = append(all, Value{Name: "host " + c[0], Key: keyfuncs.Host(), Method: "GET", Target: "/", Lines: []string{"Host: " + c[0]}, Want: c[1]})
	}
	forwarded := []string{"Host: h", "X-Forwarded-Host: other", "X-HTTP-Method-Override: PUT", "X-Method-Override: PUT"}
	return append(all,
		Value{Name: "host of a proxy", Key: keyfuncs.Host(), Method: "GET", Target: "/", Lines: forwarded, Want: "h"},
		Value{Name: "host in the target", Key: keyfuncs.Host(), Method: "GET", Target: "http://other/", Lines: []string{"Host: h"}, Want: "other"},
		Value{Name: "method", Key: keyfuncs.Method(), Method: "GET", Target: "/", Lines: forwarded, Want: "GET"},
		Value{Name: "method that does not exist", Key: keyfuncs.Method(), Method: "BREW", Target: "/", Lines: forwarded, Want: "other"},
	)
}
