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
		"a library that not all have": `\b(cjson|cmsgpack|struct|bit)\.`,
		"what only Lua 5.1 has":       `\b(maxn|loadstring|setfenv|getfenv|table\.getn)\b`,
		"what only later Lua has":     `//|\bgoto\b|::|>>|<<|~[^=]`,
		"a remainder by fractions":    `[^'"%]%[^a-zA-Z%.]`,
		"a global function":           `(?m)^\s*function [a-zA-Z]`,
	} {
		if found := regexp.MustCompile(forbidden).FindString(withoutPatterns(code)); found != "" {
			t.Errorf("it has %s: %q", name, found)
		}
	}
	if strings.Contains(Script(), roomsGoHere) {
		t.Error("the rooms are not in it")
	}
}

// withoutPatterns leaves out the texts, in which all is allowed.
func withoutPatterns(code string) string {
	return regexp.MustCompile(`'[^'\n]*'`).ReplaceAllString(code, "''")
}

// Each room has the same functions in both languages.
func TestRoomsHaveTheirTwins(t *testing.T) {
	for algorithm, lua := range scriptRooms {
		for _, function := range []string{"since", "fit", "charge", "owe", "refund", "report", "forget"} {
			if !regexp.MustCompile(`(?m)^  ` + function + ` = \w+,$`).MatchString(lua) {
				t.Errorf("%s.lua has no %s", rooms[algorithm].name, function)
			}
		}
	}
}
