package debug

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// mostBody bounds the form of a POST, in bytes.
const mostBody = 1 << 16

// mostShown are the clients that the first page lists.
const mostShown = 50

// answer is what a request to the handler gives, as JSON and on the page.
type answer struct {
	Policies []Policy `json:"policies"`
	Heaviest []Client `json:"most_refused"`
	Report   *Report  `json:"report,omitempty"`
	Done     string   `json:"done,omitempty"`
	Error    string   `json:"error,omitempty"`

	MayAct bool       `json:"-"` // the page offers actions
	Asked  url.Values `json:"-"` // what the page's form holds already
}

// As is the ways to read a key.
func (answer) As() []string { return []string{"key", "ip", "secret", "peer"} }

// ServeHTTP shows, looks a client up, and acts: see the package.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	form, status, err := h.read(w, r)
	a := answer{MayAct: h.options.Authorize != nil, Asked: form}
	if err == nil {
		status, err = h.serve(r, form, &a)
	}
	if err != nil {
		a.Error = strings.TrimPrefix(err.Error(), "ratelimit: ")
	}
	h.mu.RLock()
	for _, e := range h.policies {
		a.Policies = append(a.Policies, e.show())
	}
	h.mu.RUnlock()
	a.Heaviest = h.clients(mostShown)
	write(w, r, status, &a)
}

// read gives the form of a request that may be answered.
func (h *Handler) read(w http.ResponseWriter, r *http.Request) (url.Values, int, error) {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		form := r.URL.Query()
		if form.Has("action") {
			return nil, http.StatusMethodNotAllowed, errors.New("an action needs a POST")
		}
		return form, http.StatusOK, nil
	case http.MethodPost:
		if err := h.crossing.Check(r); err != nil {
			return nil, http.StatusForbidden, errors.New("the request comes from another site's page")
		}
		r.Body = http.MaxBytesReader(w, r.Body, mostBody)
		if err := r.ParseForm(); err != nil {
			return nil, http.StatusBadRequest, errors.New("the form cannot be read")
		}
		return r.PostForm, http.StatusOK, nil
	}
	w.Header().Set("Allow", "GET, HEAD, POST")
	return nil, http.StatusMethodNotAllowed, errors.New("give a GET or a POST")
}

// serve looks up whom the form names, after the action on it.
func (h *Handler) serve(r *http.Request, form url.Values, a *answer) (int, error) {
	if !form.Has("policy") {
		return http.StatusOK, nil
	}
	e := h.find(form.Get("policy"))
	if e == nil {
		return http.StatusNotFound, fmt.Errorf("no policy %.64q", form.Get("policy"))
	}
	key, err := h.keyOf(e, form)
	if err != nil {
		return http.StatusBadRequest, err
	}
	if key == "" {
		return http.StatusBadRequest, errors.New("no key: give the client's")
	}
	limit, err := limitOf(form)
	if err != nil {
		return http.StatusBadRequest, err
	}
	if status, err := h.act(r, e, key, form, a); err != nil {
		return status, err
	}
	a.Report, err = e.report(r.Context(), key, limit)
	return statusOf(err), err
}

// limitOf is the limit that was chosen for the client, zero for the policy's own.
func limitOf(form url.Values) (core.Limit, error) {
	if text := form.Get("limit"); text != "" {
		return core.ParseLimit(text)
	}
	return core.Limit{}, nil
}

// act does what the form's action says, for who may.
func (h *Handler) act(r *http.Request, e *entry, key string, form url.Values, a *answer) (int, error) {
	action := form.Get("action")
	if action == "" || action == "look" {
		return http.StatusOK, nil
	}
	if h.options.Authorize == nil || !h.options.Authorize(r) {
		return http.StatusForbidden, errors.New("you may not act")
	}
	var err error
	switch action {
	case "reset":
		a.Done = "The client was reset."
		err = e.limiter.Reset(r.Context(), "", key)
	case "block":
		length, bad := time.ParseDuration(form.Get("length"))
		if bad != nil || length < 0 {
			return http.StatusBadRequest, fmt.Errorf("length %.64q: give a time such as 10m, or 0s to lift the block", form.Get("length"))
		}
		a.Done = "The client was blocked for " + length.String() + "."
		err = e.limiter.Block(r.Context(), "", key, length)
	default:
		return http.StatusBadRequest, fmt.Errorf("action %.64q: give reset or block", action)
	}
	if err != nil {
		a.Done = ""
	}
	return statusOf(err), err
}

// statusOf is that of an error of the engine: what was asked for, or the store.
func statusOf(err error) int {
	switch {
	case err == nil:
		return http.StatusOK
	case errors.Is(err, core.ErrInvalid):
		return http.StatusBadRequest
	}
	return http.StatusServiceUnavailable
}

func write(w http.ResponseWriter, r *http.Request, status int, a *answer) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	if a.Asked.Get("format") == "json" || strings.Contains(r.Header.Get("Accept"), "application/json") {
		header.Set("Content-Type", "application/json")
		w.WriteHeader(status)
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		_ = encoder.Encode(a) // a client that has left misses it
		return
	}
	header.Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = page.Execute(w, a)
}
