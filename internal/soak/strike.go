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
	{"all keys flushed", true, func(_ *redistest.Server, admin *redis.Client) {
		admin.FlushAll(context.Background())
	}},
}

// noFault is there for the rest of the time.
const noFault = "no fault"

// strike is a fault that has happened, and what came of it.
type strike struct {
	fault         string
	asked, failed int           // from the harm to the next one
	recovery      time.Duration // from the mend to the last failure
	still         time.Duration // for which the machine stood still around that
}

// strike makes a fault happen halfway through a time, and notes what came of it.
func (l *load) strike(server *redistest.Server, f fault, every time.Duration) {
	time.Sleep(every / 2)
	l.check()
	admin := server.Client()
	defer func() { _ = admin.Close() }() // nothing is left to do with it
	asked, failed := l.during(f.name)
	f.harm(server, admin)
	mended := time.Now()
	l.during("after: " + f.name)
	time.Sleep(every / 2)
	if f.forgets {
		l.forget()
	} else {
		l.check()
	}
	s := strike{fault: f.name}
	s.asked, s.failed = l.during(noFault)
	s.asked, s.failed = s.asked-asked, s.failed-failed
	if last := l.lastFailure(); last.Answered.After(mended) {
		s.recovery = last.Answered.Sub(mended)
		s.still = l.heart.Missed(last.Asked.Add(-deadline), last.Answered)
	}
	l.strikes = append(l.strikes, s)
}

// during tells the load which fault is there, and gives what was asked and failed until
// then.
func (l *load) during(fault string) (asked, failed int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = fault
	return l.asked, l.failed
}

func (l *load) lastFailure() answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lastErr
}
