package headers

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
)

// problem is a body as a client reads it.
type problem struct {
	Type     string   `json:"type"`
	Title    string   `json:"title"`
	Status   int      `json:"status"`
	Detail   string   `json:"detail"`
	Violated []string `json:"violated-policies"`
}

var browser = []string{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name     string
		result   *core.Result
		retry    string // Retry-After; empty: none
		text     string
		violated []string
	}{
		{"a wait of whole seconds", result(t, refused(ip, 0, 12*time.Second, time.Minute)), "12",
			"Too many requests: retry in 12 seconds.", []string{"ip"}},
		{"rounded up", result(t, refused(ip, 0, 12*time.Second+time.Microsecond, time.Minute)), "13",
			"Too many requests: retry in 13 seconds.", []string{"ip"}},
		{"at least 1", result(t, refused(ip, 0, time.Microsecond, time.Minute)), "1",
			"Too many requests: retry in 1 second.", []string{"ip"}},
		{"the longest of several", result(t, refused(ip, 0, time.Second, time.Second), refused(day, 0, time.Hour, time.Hour)), "3600",
			"Too many requests: retry in 3600 seconds.", []string{"ip", "day"}},
		{"who admits is not named", result(t, admitted(ip, 5, time.Second), refused(day, 0, time.Hour, time.Hour)), "3600",
			"Too many requests: retry in 3600 seconds.", []string{"day"}},
		{"who enforces nothing is not named", result(t, refused(ip.AsDryRun(), 0, 2*time.Hour, time.Hour), refused(day, 0, time.Hour, time.Hour), unlimited()), "3600",
			"Too many requests: retry in 3600 seconds.", []string{"day"}},
		{"never", result(t, never(ip, 57, time.Minute)), "",
			"Too many requests: this one is never admitted.", []string{"ip"}},
		{"never outweighs a wait", result(t, refused(ip, 0, time.Second, time.Second), never(day, 1, time.Hour)), "",
			"Too many requests: this one is never admitted.", []string{"ip", "day"}},
		{"blocked", result(t, blocked()), "",
			"Too many requests: this one is never admitted.", []string{"blocked"}},
		{"a hostile name", result(t, refused(core.PerMinute(1).Named(`"],"x":["\`), 0, time.Second, time.Second)), "1",
			"Too many requests: retry in 1 second.", []string{`"],"x":["\`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, fields, body := Refused(c.result, nil)
			if status != 429 || lines(fields) != answerLines("application/problem+json", c.retry) {
				t.Errorf("status %d, fields\n%s", status, lines(fields))
			}
			got := read(t, body)
			want := problem{"https://iana.org/assignments/http-problem-types#quota-exceeded", "Quota Exceeded", 429, c.text, c.violated}
			if got.Type != want.Type || got.Title != want.Title || got.Status != 429 || got.Detail != want.Detail || !slices.Equal(got.Violated, want.Violated) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			status, fields, body = Refused(c.result, browser)
			if status != 429 || lines(fields) != answerLines("text/plain; charset=utf-8", c.retry) || body != c.text+"\n" {
				t.Errorf("status %d, body %q, fields\n%s", status, body, lines(fields))
			}
		})
	}
}

func answerLines(contentType, retryAfter string) string {
	all := "Content-Type: " + contentType + "\nCache-Control: no-store"
	if retryAfter != "" {
		all += "\nRetry-After: " + retryAfter
	}
	return all
}

func read(t *testing.T, body string) (p problem) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		t.Fatalf("body %q: %v", body, err)
	}
	return p
}

func TestRetryAfterIsNoEarlierThanTheReportedWait(t *testing.T) {
	for us := int64(1); us < int64(time.Hour/time.Microsecond); us = us*3/2 + 1 {
		r := result(t, refused(ip, 0, time.Duration(us)*time.Microsecond, time.Hour))
		_, fields, _ := Refused(r, nil)
		retry, _ := strconv.Atoi(fields[2].Value)
		reset, _ := strconv.Atoi(valueOf(t, Classic, r, resetField))
		if retry < reset || retry < 1 {
			t.Errorf("a wait of %d us: Retry-After %d, reset %d", us, retry, reset)
		}
	}
}

func TestFixedAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func([]string) (int, []Field, string)
		want   problem
		retry  string
	}{
		{"away", Away, problem{"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity", "Temporary Reduced Capacity",
			503, "The service is short of capacity: retry in 1 second.", nil}, "1"},
		{"bad request", BadRequest, problem{"about:blank", "Bad Request",
			400, "The request lacks what its limit needs, or has it in a wrong form.", nil}, ""},
		{"denied", Denied, problem{"about:blank", "Forbidden", 403, "Requests from this address are not served.", nil}, ""},
		{"failed", Failed, problem{"about:blank", "Internal Server Error", 500, "The request could not be processed.", nil}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, fields, body := c.answer(nil)
			got := read(t, body)
			if status != c.want.Status || got.Type != c.want.Type || got.Title != c.want.Title || got.Status != status || got.Detail != c.want.Detail {
				t.Errorf("status %d, got %+v, want %+v", status, got, c.want)
			}
			if lines(fields) != answerLines("application/problem+json", c.retry) {
				t.Errorf("fields\n%s", lines(fields))
			}
			status, fields, body = c.answer(browser)
			if status != c.want.Status || body != c.want.Detail+"\n" || lines(fields) != answerLines("text/plain; charset=utf-8", c.retry) {
				t.Errorf("as text: status %d, body %q, fields\n%s", status, body, lines(fields))
			}
		})
	}
}

func TestAnswersShareNothing(t *testing.T) {
	_, fields, _ := Away(nil)
	fields[0].Value = "changed"
	if _, again, _ := Away(nil); again[0].Value == "changed" {
		t.Error("a caller's change of the fields is seen by the next one")
	}
}
