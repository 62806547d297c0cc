package core

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
)

//go:embed script.lua
var scriptLua string

//go:embed ask.lua
var askLua string

//go:embed state.lua
var stateLua string

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
	SlidingWindowCounter: stateLua + slidingCounterLua,
	FixedWindow:          stateLua + fixedWindowLua,
	SlidingWindowLog:     slidingLogLua,
	TokenBucket:          stateLua + bucketLua + tokenBucketLua,
	LeakyBucket:          stateLua + bucketLua + leakyBucketLua,
}

var script = assemble()

var (
	luaPlace   = regexp.MustCompile(`(?m)^ *-- room: (\w+)\n`)
	luaHeading = regexp.MustCompile(`(?m)^--- (\w+).*\n`)
)

// assemble puts what is done for an ask into script.lua, once for each algorithm.
func assemble() string {
	var asks strings.Builder
	word := "if"
	for algorithm, lua := range scriptRooms {
		fmt.Fprintf(&asks, "%s algorithm == %d then\n%s", word, algorithm, furnish(askLua, luaParts(lua)))
		word = "elseif"
	}
	return strings.Replace(scriptLua, "-- asks\n", asks.String()+"end\n", 1)
}

// furnish puts a room's statements into their places, also those within others.
func furnish(lua string, parts map[string]string) string {
	return luaPlace.ReplaceAllStringFunc(lua, func(place string) string {
		part := parts[luaPlace.FindStringSubmatch(place)[1]]
		if part == "" {
			return ""
		}
		return "do\n" + furnish(part, parts) + "end\n"
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
	return parts
}

// Script is the Lua script that decides on Redis and what speaks its language, for
// a [Store] over another client than package redisstore's. Its first lines say
// what it is called with, and what it replies.
func Script() string { return script }
