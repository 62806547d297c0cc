package ratelimit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/pipeline"
)

// copying makes the keys of policies safe to keep: whoever made a key, Fiber may own
// its memory, and the store keeps it beyond the request.
func copying(policies []core.Policy) []core.Policy {
	policies = slices.Clone(policies)
	for i := range policies {
		if key := policies[i].Key; key != nil {
			policies[i].Key = func(r core.Request) (string, error) {
				found, err := key(r)
				return strings.Clone(found), err
			}
		}
	}
	return policies
}

func (x *exchange) Native() any              { return x.c }
func (x *exchange) Context() context.Context { return x.c.UserContext() }
func (x *exchange) Method() string           { return string(x.c.Request().Header.Method()) }
func (x *exchange) Host() string             { return string(x.c.Context().Host()) }
func (x *exchange) Route() (string, error)   { return x.limits.routes.find(x.c), nil }

// Query reads the query as the other frameworks do: Fiber's own reading of what is
// malformed is another.
func (x *exchange) Query(name string) string {
	if x.query == nil {
		x.query, _ = url.ParseQuery(string(x.c.Context().URI().QueryString())) // what can be read counts
	}
	return x.query.Get(name)
}

func (x *exchange) Peer() string { return x.c.Context().RemoteAddr().String() }

// PeerAddr is the peer's address, which package keyfuncs asks for where it can: none
// where the peer has none.
func (x *exchange) PeerAddr() netip.Addr {
	tcp, ok := x.c.Context().RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	addr, _ := netip.AddrFromSlice(tcp.IP)
	return addr
}

func (x *exchange) Header(name string) []string {
	found := x.c.Request().Header.PeekAll(name)
	if len(found) == 0 {
		return nil
	}
	lines := make([]string, len(found))
	for i := range found {
		lines[i] = string(found[i])
	}
	return lines
}

// mostForm bounds a form that is looked at, in bytes.
const mostForm = 1 << 20

// Form is answered by Fiber where it has the form in memory, and otherwise as in the
// other frameworks.
func (x *exchange) Form(name string) string {
	request := &x.c.Request().Header
	kind := string(request.ContentType())
	if strings.HasPrefix(kind, fiber.MIMEMultipartForm) && !x.c.Request().IsBodyStream() {
		return x.part(name)
	}
	if x.form == nil {
		x.form = &pipeline.HTTP{Request: &http.Request{
			Method: x.Method(), Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(bytes.NewReader(x.body())),
		}}
	}
	return x.form.Form(name)
}

// part is a field of a multipart form that Fiber has read. A compressed one, whose
// size nobody knows, is left alone.
func (x *exchange) part(name string) string {
	if len(x.c.Request().Header.Peek(fiber.HeaderContentEncoding)) > 0 {
		return ""
	}
	form, err := x.c.MultipartForm()
	if err != nil || len(form.Value[name]) == 0 || len(form.Value[name][0]) > mostForm {
		return ""
	}
	return form.Value[name][0]
}

// body is the request's body. A stream is read and put back, which works only with
// all of it: where it is too long, or does not say how long, there is nothing.
func (x *exchange) body() []byte {
	request := x.c.Request()
	if !request.IsBodyStream() {
		return request.Body()
	}
	length := request.Header.ContentLength()
	if length < 0 || length > mostForm {
		return nil
	}
	body, err := io.ReadAll(request.BodyStream())
	if err != nil {
		return nil // the handler meets the error again
	}
	request.SetBodyStream(bytes.NewReader(body), len(body))
	return body
}

// outcome is the status of the handler's answer: the one that its error will become,
// 0 where it took the connection over and nothing is known.
func (x *exchange) outcome() int {
	var coded *fiber.Error
	switch {
	case x.c.Context().Hijacked():
		return 0
	case errors.As(x.err, &coded):
		return coded.Code
	case x.err != nil:
		return http.StatusInternalServerError
	}
	return x.c.Response().StatusCode()
}
