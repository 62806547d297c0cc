package cases_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every test that docs/cases.md names is there, and every test here is named there.
func TestTheTableNamesWhatIsThere(t *testing.T) {
	table, err := os.ReadFile("../../docs/cases.md")
	if err != nil {
		t.Fatal(err)
	}
	code := allCode(t)
	rows := 0
	for line := range strings.Lines(string(table)) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(cells) != 3 || cells[2] == "held by" {
			continue
		}
		rows++
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[2], -1) {
			if !strings.Contains(code, "func "+name[1]+"(") {
				t.Errorf("there is no %s", name[1])
			}
		}
		for _, name := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(cells[2], -1) {
			if !strings.Contains(code, `{name: "`+name[1]+`"`) && !strings.Contains(code, `t.Run("`+name[1]+`"`) {
				t.Errorf("no suite has a case %q", name[1])
			}
		}
	}
	if rows < 90 {
		t.Errorf("%d rows were read", rows)
	}
	for _, name := range regexp.MustCompile(`func (Test_\w+)`).FindAllStringSubmatch(code, -1) {
		if !strings.Contains(string(table), "`"+name[1]+"`") {
			t.Errorf("the table does not name %s", name[1])
		}
	}
}

// allCode is the text of all tests and suites.
func allCode(t *testing.T) string {
	var code strings.Builder
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		suite := strings.Contains(path, "storetest/") || strings.Contains(path, "adaptertest/")
		if err != nil || filepath.Ext(path) != ".go" || !suite && !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		code.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return code.String()
}
