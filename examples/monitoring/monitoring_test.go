// Package monitoring_test holds the dashboard and the alert rules to what the
// example apps really show.
package monitoring_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

const mend = "it comes with Debian's package prometheus: apt-get install prometheus"

func TestRules(t *testing.T) {
	for _, args := range [][]string{{"check", "rules", "alerts.yml"}, {"test", "rules", "alerts_test.yml"}, {"check", "config", "prometheus.yml"}} {
		if out, err := exec.Command("promtool", args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v: %s (%s)", args, err, out, mend)
		}
	}
}

// TestEveryPanelHasData scrapes two example apps under load, one in memory and one
// on Redis, with a real Prometheus. It takes as long as what is counted once a
// minute.
func TestEveryPanelHasData(t *testing.T) {
	app := filepath.Join(t.TempDir(), "app")
	if out, err := exec.Command("go", "build", "-o", app, "../gin").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	inMemory := start(t, app)
	onRedis := start(t, app, "-redis", "redis://"+redistest.Start(t).Addr())
	prometheus := scraping(t, inMemory, onRedis)
	go load(t, inMemory)
	go load(t, onRedis)

	missing := queries(t)
	for latest := time.Now().Add(3 * time.Minute); len(missing) > 0 && time.Now().Before(latest); {
		time.Sleep(time.Second)
		missing = slices.DeleteFunc(missing, func(query string) bool { return hasData(t, prometheus, query) })
	}
	for _, query := range missing {
		t.Errorf("no data for %s", query)
	}
	healthy(t, prometheus)
	for _, app := range []string{inMemory, onRedis} {
		check := exec.Command("promtool", "check", "metrics")
		check.Stdin = strings.NewReader(get(t, app+"/metrics"))
		if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("promtool check metrics: %v: %s", err, out)
		}
	}
}

// process runs a program until the test ends.
func process(t *testing.T, name string, args ...string) io.Reader {
	t.Helper()
	p := exec.Command(name, args...)
	var log bytes.Buffer
	p.Stderr = &log
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatalf("%v (%s)", err, mend)
	}
	t.Cleanup(func() {
		_ = p.Process.Kill()
		_ = p.Wait()
		if t.Failed() {
			t.Logf("%s: %s", filepath.Base(name), log.Bytes())
		}
	})
	return out
}

// start runs an example app, and gives its address.
func start(t *testing.T, app string, flags ...string) string {
	t.Helper()
	line, err := bufio.NewReader(process(t, app, append([]string{"-addr", "127.0.0.1:0"}, flags...)...)).ReadString('\n')
	address, found := strings.CutPrefix(line, "listening on ")
	if err != nil || !found {
		t.Fatalf("the first line is %q, %v", line, err)
	}
	return strings.TrimSpace(address)
}

// scraping runs Prometheus with the configuration of this folder, but for the apps
// and the pace, and gives its address.
func scraping(t *testing.T, apps ...string) string {
	t.Helper()
	text, err := os.ReadFile("prometheus.yml")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := filepath.Abs("alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	targets := `"` + strings.ReplaceAll(strings.Join(apps, `", "`), "http://", "") + `"`
	config := string(text)
	for _, change := range [][2]string{{`"localhost:8080"`, targets}, {"15s", "1s"}, {"alerts.yml", rules}} {
		if !strings.Contains(config, change[0]) {
			t.Fatalf("no %s in %s", change[0], config)
		}
		config = strings.Replace(config, change[0], change[1], 1)
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	address := free(t)
	process(t, "prometheus", "--config.file="+file, "--storage.tsdb.path="+filepath.Join(folder, "data"), "--web.listen-address="+address)
	return "http://" + address
}

func free(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// load visits an app until the test ends: what is admitted, held, refused, never
// admitted, and counted together.
func load(t *testing.T, app string) {
	for i := 0; t.Context().Err() == nil; i++ {
		path := []string{"/window", "/steady", "/steady", "/exact", "/report?size=101", "/users/7", "/pay", "/nowhere"}[i%8]
		if answer, err := http.Get(app + path); err == nil {
			answer.Body.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// queries are those of the dashboard's panels.
func queries(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, panel := range dashboard.Panels {
		if len(panel.Targets) == 0 {
			t.Errorf("panel %s has no query", panel.Title)
		}
		for _, target := range panel.Targets {
			all = append(all, strings.ReplaceAll(target.Expr, "$__rate_interval", "1m"))
		}
	}
	if len(all) < 14 {
		t.Fatalf("only %d queries", len(all))
	}
	return all
}

// hasData reports whether a query gives a number.
func hasData(t *testing.T, prometheus, query string) bool {
	var answer struct {
		Status string
		Error  string
		Data   struct {
			Result []struct{ Value [2]any }
		}
	}
	text := get(t, prometheus+"/api/v1/query?query="+url.QueryEscape(query))
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return false // it has not started yet
	}
	if answer.Status != "success" {
		t.Fatalf("%s: %s", query, answer.Error)
	}
	for _, result := range answer.Data.Result {
		if fmt.Sprint(result.Value[1]) != "NaN" {
			return true
		}
	}
	return false
}

// healthy wants that Prometheus has taken all rules and evaluates them.
func healthy(t *testing.T, prometheus string) {
	t.Helper()
	text := get(t, prometheus+"/api/v1/rules")
	if n := strings.Count(text, `"health":"ok"`); n != 8 || strings.Contains(text, `"health":"err"`) {
		t.Errorf("%d rules are well, want 8: %s", n, text)
	}
}

func get(t *testing.T, address string) string {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}
