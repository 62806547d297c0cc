package core

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
)

//go:embed script.lua
var scriptLua string

//go:embed fixedwindow.lua
var fixedWindowLua string

//go:embed slidinglog.lua
var slidingLogLua string

//go:embed slidingcounter.lua
var slidingCounterLua string

//go:embed bucket.lua
var bucketLua string

//go:embed tokenbucket.lua
var tokenBucketLua string

//go:embed leakybucket.lua
var leakyBucketLua string

// scriptRooms are the rooms' Lua, by Algorithm.
var scriptRooms = [len(rooms)]string{
	SlidingWindowCounter: slidingCounterLua,
	FixedWindow:          fixedWindowLua,
	SlidingWindowLog:     slidingLogLua,
	TokenBucket:          bucketLua + tokenBucketLua,
	LeakyBucket:          bucketLua + leakyBucketLua,
}

var script = assemble()

var (
	luaPlace   = regexp.MustCompile(`(?m)^ *-- room: (\w+)\n`)
	luaHeading = regexp.MustCompile(`(?m)^--- (\w+).*\n`)
)

// assemble puts the rooms' statements into their places in script.lua.
func assemble() string {
	var parts [len(rooms)]map[string]string
	for algorithm, lua := range scriptRooms {
		parts[algorithm] = luaParts(lua)
	}
	return luaPlace.ReplaceAllStringFunc(scriptLua, func(place string) string {
		return choice(luaPlace.FindStringSubmatch(place)[1], parts[:])
	})
}

// luaParts are a room's statements by their headings; those under one heading follow
// each other.
func luaParts(lua string) map[string]string {
	parts := make(map[string]string)
	headings := luaHeading.FindAllStringSubmatchIndex(lua, -1)
	for i, at := range headings {
		end := len(lua)
		if i+1 < len(headings) {
			end = headings[i+1][0]
		}
		parts[lua[at[2]:at[3]]] += lua[at[1]:end]
	}
	for name, part := range parts {
		parts[name] = luaPlace.ReplaceAllStringFunc(part, func(place string) string {
			return parts[luaPlace.FindStringSubmatch(place)[1]]
		})
	}
	return parts
}

// choice is the statements of the algorithm that is asked for.
func choice(name string, parts []map[string]string) string {
	var text strings.Builder
	word := "if"
	for algorithm, room := range parts {
		if room[name] != "" {
			fmt.Fprintf(&text, "%s algorithm == '%d' then\n%s", word, algorithm, room[name])
			word = "elseif"
		}
	}
	if word == "if" {
		panic("ratelimit: no room has statements for " + name)
	}
	return text.String() + "end\n"
}

// Script is the Lua script that decides on Redis and what speaks its language, for
// a [Store] over another client than package redisstore's. Its first lines say
// what it is called with, and what it replies.
func Script() string { return script }
