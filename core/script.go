package core

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed script.lua
var scriptLua string

//go:embed verbs.lua
var verbsLua string

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

// roomsGoHere is the line of script.lua that the rooms replace.
const roomsGoHere = "  -- The rooms go here.\n"

// scriptRooms are the rooms' Lua, by Algorithm.
var scriptRooms = [len(rooms)]string{
	SlidingWindowCounter: slidingCounterLua,
	FixedWindow:          fixedWindowLua,
	SlidingWindowLog:     slidingLogLua,
	TokenBucket:          bucketLua + tokenBucketLua,
	LeakyBucket:          bucketLua + leakyBucketLua,
}

var script = assemble()

// assemble puts the rooms into the script, each behind its number, so that a run
// builds those that it needs only.
func assemble() string {
	before, after, found := strings.Cut(scriptLua, roomsGoHere)
	if !found {
		panic("ratelimit: script.lua has no place for the rooms")
	}
	var text strings.Builder
	text.WriteString(before)
	for algorithm, lua := range scriptRooms {
		fmt.Fprintf(&text, "if algorithm == %d then\n%send\n", algorithm, lua)
	}
	text.WriteString(after)
	text.WriteString(verbsLua)
	return text.String()
}

// Script is the Lua script that decides on Redis and what speaks its language, for
// a [Store] over another client than package redisstore's. Its first lines say
// what it is called with, and what it replies.
func Script() string { return script }
