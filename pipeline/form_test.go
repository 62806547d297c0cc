package pipeline

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
)

func formRequest(kind string, body io.Reader) *http.Request {
	r := httptest.NewRequest("POST", "/", body)
	r.Header.Set("Content-Type", kind)
	return r
}

func TestReadForm(t *testing.T) {
	const urlencoded, multi = "application/x-www-form-urlencoded", "multipart/form-data; boundary=b"
	part := func(disposition, value string) string {
		return "--b\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + value + "\r\n"
	}
	fill := strings.Repeat("x", mostForm)
	for _, c := range []struct{ name, kind, body, want string }{
		{"a field", urlencoded, "a=1&user=ann", "ann"},
		{"the first of two", urlencoded, "user=ann&user=bob", "ann"},
		{"escaped", urlencoded + "; charset=utf-8", "us%65r=a%20n", "a n"},
		{"a bad escape beside it", urlencoded, "x=%zz&user=ann", "ann"},
		{"as long as is read", urlencoded, "user=ann&x=" + fill[len("user=ann&x="):], "ann"},
		{"a byte longer", urlencoded, "user=ann&x=" + fill[len("user=ann&x="):] + "x", ""},
		{"a part", multi, part(`name="user"`, "ann") + "--b--", "ann"},
		{"before a long file", multi, part(`name="user"`, "ann") + part(`name="f"; filename="f"`, fill), "ann"},
		{"after a long file", multi, part(`name="f"; filename="f"`, fill) + part(`name="user"`, "ann"), ""},
		{"a file of that name", multi, part(`name="user"; filename="f"`, "ann") + "--b--", ""},
		{"a part without an end", multi, part(`name="user"`, fill), ""},
		{"no boundary", "multipart/form-data", part(`name="user"`, "ann"), ""},
		{"another type", "text/plain", "user=ann", ""},
		{"no type", "", "user=ann", ""},
		{"an empty body", urlencoded, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := formRequest(c.kind, strings.NewReader(c.body))
			view := &HTTP{Request: r}
			if got := view.Form("user"); got != c.want {
				t.Errorf("user %q, want %q", got, c.want)
			}
			if rest, err := io.ReadAll(r.Body); string(rest) != c.body || err != nil {
				t.Errorf("the handler reads %d bytes of %d, %v", len(rest), len(c.body), err)
			}
		})
	}
}

func TestReadFormTwice(t *testing.T) {
	r := formRequest("application/x-www-form-urlencoded", strings.NewReader("user=ann"))
	if err := r.ParseForm(); err != nil {
		t.Fatal(err)
	}
	if got := (&HTTP{Request: r}).Form("user"); got != "ann" {
		t.Errorf("user %q of a body that has been parsed", got)
	}
}

// A body that breaks off is nothing found, and the handler meets the error.
func TestReadFormError(t *testing.T) {
	broken := errors.New("broken")
	r := formRequest("application/x-www-form-urlencoded", io.MultiReader(strings.NewReader("x=1"), iotest.ErrReader(broken)))
	_ = (&HTTP{Request: r}).Form("user")
	if rest, err := io.ReadAll(r.Body); string(rest) != "x=1" || !errors.Is(err, broken) {
		t.Errorf("the handler reads %q, %v", rest, err)
	}
}

func FuzzReadForm(f *testing.F) {
	f.Add("application/x-www-form-urlencoded", "user=ann&x=%zz;")
	f.Add("multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"user\"\r\n\r\nann\r\n--b--")
	f.Add("multipart/form-data; boundary=\"\x00\"", "--\x00\r\n")
	f.Add("application/x-www-form-urlencoded", strings.Repeat("user=ann&", 1<<13))
	f.Add("multipart/form-data; boundary=b"+strings.Repeat(";a=b", 1<<14), "--b--")
	f.Fuzz(func(t *testing.T, kind, body string) {
		r := formRequest(kind, strings.NewReader(body))
		_ = (&HTTP{Request: r}).Form("user")
		if rest, err := io.ReadAll(r.Body); string(rest) != body || err != nil {
			t.Errorf("the handler reads %q, %v", rest, err)
		}
	})
}
