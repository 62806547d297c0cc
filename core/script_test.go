package core

import (
	"regexp"
	"strings"
	"testing"
)

// The script runs where its text is plain Lua 5.1 and 5.4, on servers that allow
// little.
func TestScriptIsPlainLua(t *testing.T) {
	code := regexp.MustCompile(`--[^\n]*`).ReplaceAllString(Script(), "")
	for name, forbidden := range map[string]string{
		"a shebang":                   `^#!`,
		"a library that not all have": `\b(cjson|cmsgpack|bit)\.`,
		"what only Lua 5.1 has":       `\b(maxn|loadstring|setfenv|getfenv|table\.getn)\b`,
		"what only later Lua has":     `//|\bgoto\b|::|>>|<<|~[^=]`,
		"a remainder by fractions":    `[^'"%]%[^a-zA-Z%.]([^1]|1[\w.])`,
		"a global function":           `(?m)^\s*function [a-zA-Z]`,
	} {
		if found := regexp.MustCompile(forbidden).FindString(withoutPatterns(code)); found != "" {
			t.Errorf("it has %s: %q", name, found)
		}
	}
	if left := luaPlace.FindString(Script()); left != "" {
		t.Errorf("there is no room at %q", left)
	}
}

// withoutPatterns leaves out the texts, in which all is allowed.
func withoutPatterns(code string) string {
	return regexp.MustCompile(`'[^'\n]*'`).ReplaceAllString(code, "''")
}

// Each room has the same names in both languages, and none that has no place.
func TestRoomsHaveTheirTwins(t *testing.T) {
	for algorithm, lua := range scriptRooms {
		parts := luaParts(lua)
		for _, name := range []string{"forget", "life", "level", "fit", "charge", "owe", "refund", "report"} {
			if parts[name] == "" {
				t.Errorf("%s.lua has no %s", rooms[algorithm].name, name)
			}
		}
		for name := range parts {
			if !strings.Contains(askLua+lua, "-- room: "+name+"\n") {
				t.Errorf("%s.lua has %s, which has no place", rooms[algorithm].name, name)
			}
		}
	}
}
