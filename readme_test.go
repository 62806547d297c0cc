package ratelimit_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// blocks are the README's blocks of one language.
func blocks(t *testing.T, language string) (found []string) {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllSubmatch(text, -1) {
		found = append(found, string(match[1]))
	}
	if len(found) == 0 {
		t.Fatalf("the README has no block of %q: this test checks nothing", language)
	}
	return found
}

// TestReadmeSnippetsAreCompiled: each line of Go in the README stands in a compiled
// example, in order.
func TestReadmeSnippetsAreCompiled(t *testing.T) {
	var examples []string
	paths, _ := filepath.Glob("*/*_test.go")
	for _, path := range append(paths, "example_test.go") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		examples = append(examples, spaceless(string(text)))
	}
	for _, block := range blocks(t, "go") {
		if strings.HasPrefix(block, "import") {
			continue // its paths are those of the examples' own
		}
		if !stands(block, examples) {
			t.Errorf("no compiled example has\n%s", block)
		}
	}
}

func stands(block string, examples []string) bool {
	for _, example := range examples {
		if strings.Contains(example, spaceless(block)) {
			return true
		}
	}
	return false
}

// spaceless is code without space and comments at the ends of lines.
func spaceless(code string) string {
	code = regexp.MustCompile(`\s//[^\n]*`).ReplaceAllString(code, "")
	return regexp.MustCompile(`\s+`).ReplaceAllString(code, "")
}

// TestReadmeOneLiners: what the table says of each framework is in its example.
func TestReadmeOneLiners(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| (net/http|Gin|Echo v4|Fiber v2|chi v5) \\| `(.*)` \\|$").FindAllStringSubmatch(string(text), -1)
	if len(rows) != 5 {
		t.Fatalf("%d rows, want one for each framework", len(rows))
	}
	for _, row := range rows {
		folder := strings.ToLower(strings.ReplaceAll(strings.Fields(row[1])[0], "/", ""))
		example, err := os.ReadFile(filepath.Join(folder, "example_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		call := row[2][:strings.Index(row[2], "ratelimit.New(")+len("ratelimit.New(")]
		if folder == "nethttp" {
			call = "ratelimit.New("
		}
		if !strings.Contains(string(example), call+"core.Per") {
			t.Errorf("%s: no example has %q", row[1], call)
		}
	}
}

// TestReadmeTranscript runs the README's console against the app, and compares all
// but what time changes.
func TestReadmeTranscript(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "app")
	if out, err := exec.Command("go", "build", "-o", binary, "./examples/gin").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, block := range blocks(t, "console") {
		url := serve(t, binary)
		for _, part := range strings.Split(block, "$ ")[1:] {
			command, want, _ := strings.Cut(part, "\n")
			out, err := exec.Command("sh", "-c", strings.ReplaceAll(command, "http://localhost:8080", url)).Output()
			if err != nil {
				t.Fatalf("%s: %v", command, err)
			}
			if got := timeless(string(out)); got != timeless(want) {
				t.Errorf("%s prints\n%s\nthe README has\n%s", command, got, timeless(want))
			}
		}
	}
}

// serve runs the app, and gives its address from its first line.
func serve(t *testing.T, binary string) string {
	t.Helper()
	app := exec.Command(binary, "-addr", "127.0.0.1:0")
	out, err := app.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := app.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = app.Process.Kill()
		_ = app.Wait()
	})
	line := make([]byte, 256)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(line[:n]), "\n")
	return strings.TrimPrefix(first, "listening on ")
}

func timeless(text string) string {
	text = strings.ReplaceAll(text, "\r", "")
	text = regexp.MustCompile(`Date: .*`).ReplaceAllString(text, "Date: ...")
	return strings.TrimSpace(regexp.MustCompile(`"ip";r=294;t=\d+`).ReplaceAllString(text, `"ip";r=294;t=...`))
}
