package examples_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// absentRedis is where nothing listens.
const absentRedis = "redis://127.0.0.1:1"

// app is a running example: a real process, spoken to over real HTTP.
type app struct {
	*testing.T
	url     string
	process *exec.Cmd
}

// build builds the example in a folder.
func build(t *testing.T, folder string) (binary string) {
	t.Helper()
	binary = filepath.Join(t.TempDir(), folder)
	if out, err := exec.Command("go", "build", "-o", binary, "./"+folder).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return binary
}

// start runs it on a free port until the test ends.
func start(t *testing.T, binary string, flags ...string) *app {
	t.Helper()
	process := exec.Command(binary, append([]string{"-addr", "127.0.0.1:0"}, flags...)...)
	var log bytes.Buffer
	process.Stderr = &log
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
		if away := bytes.Contains(log.Bytes(), []byte("the store is away")); away != slices.Contains(flags, absentRedis) {
			t.Errorf("the store was away: %v", away)
		}
		if t.Failed() {
			t.Logf("its log: %s", log.Bytes())
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	address, found := strings.CutPrefix(line, "listening on ")
	if err != nil || !found {
		t.Fatalf("the first line is %q, %v", line, err)
	}
	return &app{T: t, url: strings.TrimSpace(address), process: process}
}

// terminate sends SIGTERM and wants an exit status of 0.
func (a *app) terminate() {
	a.Helper()
	if err := a.process.Process.Signal(syscall.SIGTERM); err != nil {
		a.Fatal(err)
	}
	if err := a.process.Wait(); err != nil {
		a.Errorf("after SIGTERM: %v", err)
	}
}

// reply is what a client got.
type reply struct {
	status int
	header http.Header
	body   string
	at     time.Time
}

func (a *app) get(path string, pairs ...string) reply {
	request, err := http.NewRequest("GET", a.url+path, nil)
	if err != nil {
		a.Error(err)
		return reply{}
	}
	for i := 0; i < len(pairs); i += 2 {
		request.Header.Set(pairs[i], pairs[i+1])
	}
	return a.send(request)
}

func (a *app) login(user, password string) reply {
	form := url.Values{"user": {user}, "password": {password}}
	request, err := http.NewRequest("POST", a.url+"/login", strings.NewReader(form.Encode()))
	if err != nil {
		a.Error(err)
		return reply{}
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return a.send(request)
}

func (a *app) send(request *http.Request) reply {
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		a.Error(err)
		return reply{}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		a.Error(err)
	}
	return reply{response.StatusCode, response.Header, string(body), time.Now()}
}

// want wants a status, and of an admitted answer that it names its route.
func (a *app) want(got reply, status int, route string) {
	a.Helper()
	if got.status != status {
		a.Fatalf("/%s: status %d, want %d: %s", route, got.status, status, got.body)
	}
	if status == http.StatusOK && !strings.Contains(got.body, fmt.Sprintf("%q", route)) {
		a.Errorf("/%s answers %s", route, got.body)
	}
}

// refused wants a default 429 of one policy, with a wait.
func (a *app) refused(got reply, policy string) {
	a.Helper()
	a.want(got, http.StatusTooManyRequests, policy)
	if !strings.Contains(got.body, fmt.Sprintf(`"violated-policies":[%q]`, policy)) {
		a.Errorf("the body does not name policy %s alone: %s", policy, got.body)
	}
	if got.header.Get("Retry-After") == "" || got.header.Get("Content-Type") != "application/problem+json" {
		a.Errorf("the refusal has fields %v", got.header)
	}
}
