package keyfuncs_test

import (
	"context"
	"net/http"
)

// request is a core.Request of plain values.
type request struct {
	ctx      context.Context
	method   string
	host     string
	route    string
	routeErr error
	peer     string
	header   http.Header
	query    map[string]string
	form     map[string]string
}

func (r request) Context() context.Context {
	if r.ctx == nil {
		return context.Background()
	}
	return r.ctx
}
func (r request) Method() string              { return r.method }
func (r request) Host() string                { return r.host }
func (r request) Route() (string, error)      { return r.route, r.routeErr }
func (r request) Peer() string                { return r.peer }
func (r request) Header(name string) []string { return r.header[http.CanonicalHeaderKey(name)] }
func (r request) Query(name string) string    { return r.query[name] }
func (r request) Form(name string) string     { return r.form[name] }
func (r request) Native() any                 { return nil }

func with(lines ...string) request {
	r := request{peer: "198.51.100.7:51234", header: http.Header{}}
	for i := 0; i < len(lines); i += 2 {
		r.header.Add(lines[i], lines[i+1])
	}
	return r
}
