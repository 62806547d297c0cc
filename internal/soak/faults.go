package main

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ratelimit-go/ratelimit/internal/redistest"
)

// fault harms a server and mends it. Where it forgets, all counts begin anew.
type fault struct {
	name    string
	forgets bool
	harm    func(server *redistest.Server, admin *redis.Client)
}

// In the way of an operator, what an administrator's command says is all one.
var faults = []fault{
	{"frozen for two seconds", false, func(server *redistest.Server, _ *redis.Client) {
		server.Freeze()
		time.Sleep(2 * time.Second)
		server.Thaw()
	}},
	{"killed, and back a second later", true, func(server *redistest.Server, _ *redis.Client) {
		server.Kill()
		time.Sleep(time.Second)
		server.Restart()
	}},
	{"scripts flushed", false, func(_ *redistest.Server, admin *redis.Client) {
		admin.ScriptFlush(context.Background())
	}},
	{"all connections killed", false, func(_ *redistest.Server, admin *redis.Client) {
		admin.ClientKillByFilter(context.Background(), "type", "normal", "skipme", "yes")
	}},
	{"memory full for a second", false, func(_ *redistest.Server, admin *redis.Client) {
		admin.ConfigSet(context.Background(), "maxmemory", "1")
		time.Sleep(time.Second)
		admin.ConfigSet(context.Background(), "maxmemory", "0")
	}},
	{"flushed", true, func(_ *redistest.Server, admin *redis.Client) {
		admin.FlushAll(context.Background())
	}},
}
