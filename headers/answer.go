package headers

import (
	"net/http"
	"strconv"

	"github.com/ratelimit-go/ratelimit/core"
)

// What the middleware answers itself: a status, the fields of the answer beside
// those of the [Format], and a body. The body is problem details (RFC 9457), or
// plain text for who prefers text to JSON by the lines of Accept. Caches may store
// none of them.

// Refused is the answer to a request that was refused: 429 with Retry-After, in
// whole seconds, rounded up, at least 1, or without where no wait helps. The
// body names the policies that refused, by the problem type quota-exceeded of
// draft-ietf-httpapi-ratelimit-headers-11.
func Refused(r *core.Result, accept []string) (status int, fields []Field, body string) {
	retryAfter := ""
	if s := r.RetryAfterSeconds(); s > 0 {
		retryAfter = strconv.FormatInt(min(s, maxInteger), 10)
	}
	text := prefersText(accept)
	return http.StatusTooManyRequests, answerFields(text, retryAfter), refusal(r, retryAfter, text)
}

func refusal(r *core.Result, retryAfter string, text bool) string {
	var room [512]byte
	b := room[:0]
	if text {
		return string(append(appendDetail(b, retryAfter), '\n'))
	}
	b = append(b, `{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Quota Exceeded","status":429,"detail":"`...)
	b = appendDetail(b, retryAfter)
	b = append(b, `","violated-policies":[`...)
	b = appendViolated(b, r)
	return string(append(b, "]}\n"...))
}

func appendDetail(b []byte, retryAfter string) []byte {
	switch retryAfter {
	case "":
		return append(b, "Too many requests: this one is never admitted."...)
	case "1":
		return append(b, "Too many requests: retry in 1 second."...)
	}
	b = append(b, "Too many requests: retry in "...)
	b = append(b, retryAfter...)
	return append(b, " seconds."...)
}

// appendViolated lists the names of the enforcing policies that refused.
func appendViolated(b []byte, r *core.Result) []byte {
	first := true
	for i := range r.Len() {
		a := r.Ask(i)
		if a.Allowed || a.Terms.DryRun || a.Unasked {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		b, first = appendQuoted(b, a.Terms.Policy), false
	}
	return b
}

// Away is the answer while the store does not answer and a policy is closed: 503
// with Retry-After: 1, by the problem type temporary-reduced-capacity of
// draft-ietf-httpapi-ratelimit-headers-11.
func Away(accept []string) (status int, fields []Field, body string) {
	const detail = "The service is short of capacity: retry in 1 second."
	return fixed(http.StatusServiceUnavailable, accept, "1", detail,
		`{"type":"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity","title":"Temporary Reduced Capacity","status":503,"detail":"`+detail+"\"}\n")
}

// BadRequest is the answer to a request that cannot be counted, such as one
// without the key that its policy requires: 400.
func BadRequest(accept []string) (status int, fields []Field, body string) {
	const detail = "The request lacks what its limit needs, or has it in a wrong form."
	return fixed(http.StatusBadRequest, accept, "", detail,
		`{"type":"about:blank","title":"Bad Request","status":400,"detail":"`+detail+"\"}\n")
}

// Denied is the answer to a client of a denied network: 403.
func Denied(accept []string) (status int, fields []Field, body string) {
	const detail = "Requests from this address are not served."
	return fixed(http.StatusForbidden, accept, "", detail,
		`{"type":"about:blank","title":"Forbidden","status":403,"detail":"`+detail+"\"}\n")
}

// Failed is the answer where a key or a limit could not be found out: 500. It tells
// nothing of the cause.
func Failed(accept []string) (status int, fields []Field, body string) {
	const detail = "The request could not be processed."
	return fixed(http.StatusInternalServerError, accept, "", detail,
		`{"type":"about:blank","title":"Internal Server Error","status":500,"detail":"`+detail+"\"}\n")
}

func fixed(status int, accept []string, retryAfter, detail, problem string) (int, []Field, string) {
	if prefersText(accept) {
		return status, answerFields(true, retryAfter), detail + "\n"
	}
	return status, answerFields(false, retryAfter), problem
}

func answerFields(text bool, retryAfter string) []Field {
	contentType := "application/problem+json"
	if text {
		contentType = "text/plain; charset=utf-8"
	}
	fields := []Field{{"Content-Type", contentType}, {"Cache-Control", "no-store"}, {"Retry-After", retryAfter}}
	if retryAfter == "" {
		return fields[:2]
	}
	return fields
}
