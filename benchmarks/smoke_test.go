package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A smoke run: every contender still compiles, limits, and has a figure.
func TestQuickRun(t *testing.T) {
	out := filepath.Join(t.TempDir(), "RESULTS.md")
	if err := run(quick, true, "", out); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range []string{"## Memory", "## Redis", "## HTTP", "smoke run"} {
		if !strings.Contains(string(written), group) {
			t.Errorf("the results lack %q", group)
		}
	}
}

func TestAGroupThatIsNotThere(t *testing.T) {
	if err := run(quick, true, "disk", filepath.Join(t.TempDir(), "RESULTS.md")); err == nil {
		t.Error("want an error for -only disk")
	}
}
