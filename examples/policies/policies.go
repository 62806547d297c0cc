// Package policies are the rate limits of the example app, written once for all
// frameworks.
package policies

import (
	"strconv"
	"time"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

// IP is for every route that is limited: 300 a minute for each client.
func IP() core.Policy { return core.PerMinute(300).Named("ip") }

// Window counts in minutes of the clock, by client.
func Window() core.Policy { return core.PerMinute(10).FixedWindow().Named("window") }

// Exact lets at most 5 pass in any 10 seconds.
func Exact() core.Policy { return core.Per(5, 10*time.Second).SlidingWindowLog().Named("exact") }

// Smooth counts in ten intervals of a second.
func Smooth() core.Policy {
	return core.Per(10, 10*time.Second).SlidingWindowCounter(10).Named("smooth")
}

// Burst lets 20 pass at once and 10 a second on average, by API key or, without
// one, by client.
func Burst() core.Policy {
	return core.PerSecond(10).TokenBucket(20).Named("burst").
		By(keyfuncs.First(keyfuncs.Header("X-API-Key"), keyfuncs.IP()))
}

// Steady is one queue for all: what is behind it sees a request each 100 ms.
func Steady() core.Policy {
	return core.PerSecond(10).LeakyBucket(50).Named("steady").By(keyfuncs.All())
}

// Users counts the requests of a client to a route, all ids together.
func Users() core.Policy {
	return core.PerMinute(20).Named("users").By(keyfuncs.IP(), keyfuncs.Route())
}

// Login counts failed logins, by user name and by client.
func Login() []core.Policy {
	return []core.Policy{
		core.PerMinute(5).SlidingWindowLog().Named("login").By(keyfuncs.Form("user")).Counting(core.CountFailures),
		core.PerMinute(20).Named("login-ip").Counting(core.CountFailures),
	}
}

// Pay admits what three policies admit, and charges all of them or none.
func Pay() []core.Policy {
	return []core.Policy{
		core.PerSecond(10).TokenBucket(100).Named("pay-user").By(keyfuncs.Header("X-User")),
		core.PerMinute(50).SlidingWindowCounter(6).Named("pay-ip"),
		core.PerSecond(20).TokenBucket(200).Named("pay-endpoint").By(keyfuncs.Route()),
	}
}

// Report costs as many units as the report's size.
func Report() core.Policy { return core.PerMinute(100).Named("report").Costing(size) }

// size is the query parameter of that name, 1 where there is none.
func size(r core.Request) (int64, error) {
	text := r.Query("size")
	if text == "" {
		return 1, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil && n < 1 {
		err = strconv.ErrRange
	}
	return n, err
}
