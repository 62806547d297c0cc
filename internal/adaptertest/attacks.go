package adaptertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ratelimit-go/ratelimit/core"
	"github.com/ratelimit-go/ratelimit/keyfuncs"
)

// wire is a request as it goes over the wire.
type wire struct {
	method, target string
	lines          []string
}

func asks(lines ...string) wire { return wire{"GET", "/", lines} }

// attack is a way to pass a limit, or to spend that of the victim.
type attack struct {
	name   string
	key    core.Key
	asks   func(i int) wire
	victim wire
}

const (
	attacker  = "198.51.100.7" // as the proxy tells of it
	bystander = "203.0.113.66"
)

// forged is what an attacker writes as an address: now a new one, now the victim's.
func forged(i int) string {
	if i%2 == 0 {
		return bystander
	}
	return fmt.Sprint("192.0.2.", i)
}

func attacks() []attack {
	proxies := keyfuncs.TrustProxies("127.0.0.1")
	long := strings.Repeat("k", 64<<10)
	byXFF, byAPIKey := keyfuncs.IP(proxies), keyfuncs.Header("X-API-Key")
	victimByXFF, victimByAPIKey := asks("X-Forwarded-For: "+bystander), asks("X-API-Key: victim")
	return []attack{
		{"a forged X-Forwarded-For", byXFF, func(i int) wire {
			return asks("X-Forwarded-For: "+forged(i)+", "+attacker, "X-Real-IP: "+forged(i), "Forwarded: for="+forged(i))
		}, victimByXFF},
		{"a forged X-Forwarded-For in a line of its own", byXFF, func(i int) wire {
			return asks("X-Forwarded-For: "+forged(i), "X-Forwarded-For: "+attacker)
		}, victimByXFF},
		{"a forged X-Real-IP", keyfuncs.IP(proxies, keyfuncs.SingleHeader("X-Real-IP")), func(i int) wire {
			return asks("X-Real-IP: "+forged(i), "X-Real-IP: "+attacker)
		}, asks("X-Real-IP: " + bystander)},
		{"a forged Forwarded", keyfuncs.IP(proxies, keyfuncs.ForwardedHeader()), func(i int) wire {
			return asks(`Forwarded: for="`+forged(i)+`, for=`+attacker, "X-Forwarded-For: "+forged(i))
		}, asks("Forwarded: for=" + bystander)},
		{"headers of a client that nobody vouches for", keyfuncs.First(byAPIKey, keyfuncs.IP()), func(i int) wire {
			return asks("X-Forwarded-For: "+forged(i), "X-Real-IP: "+forged(i), "Forwarded: for="+forged(i), "True-Client-IP: "+forged(i), "CF-Connecting-IP: "+forged(i))
		}, victimByAPIKey},
		{"headers named as hop-by-hop", byXFF, func(i int) wire {
			return asks("X-Forwarded-For: "+attacker, "Connection: X-Forwarded-For", "Connection: keep-alive, x-forwarded-for", "Keep-Alive: "+fmt.Sprint(i))
		}, victimByXFF},
		{"a key named as hop-by-hop", byAPIKey, func(int) wire {
			return asks("X-API-Key: k", "Connection: X-API-Key", "Proxy-Connection: X-API-Key", "TE: trailers")
		}, victimByAPIKey},
		{"IPv6 addresses of one prefix", byXFF, func(i int) wire {
			return asks(fmt.Sprintf("X-Forwarded-For: 2001:db8:1:2:%x::%x", i, i*i))
		}, asks("X-Forwarded-For: 2001:db8:1:3::1")},
		{"tricks with the path", keyfuncs.Route(), func(i int) wire {
			return wire{"GET", spellings("/users/1")[i], nil}
		}, wire{"GET", "/victim", nil}},
		{"another method in a header", keyfuncs.Method(), func(int) wire {
			return wire{"GET", "/?_method=POST", []string{"X-HTTP-Method-Override: POST", "X-Method-Override: POST", "X-HTTP-Method: POST"}}
		}, wire{"POST", "/", []string{"Content-Length: 0"}}},
		{"a key left out", byAPIKey, func(int) wire { return asks() }, victimByAPIKey},
		{"a key twice", byAPIKey, func(i int) wire {
			return asks(fmt.Sprint("X-API-Key: ", i), "x-api-key: victim")
		}, victimByAPIKey},
		{"a key of 64 KiB", byAPIKey, func(int) wire { return asks("X-API-Key: " + long) }, asks("X-API-Key: " + long[:3000])},
		{"an X-Forwarded-For of 64 KiB", byXFF, func(i int) wire {
			return asks("X-Forwarded-For: " + strings.Repeat(forged(i)+",", 64<<10/13) + attacker)
		}, victimByXFF},
		{"a key that is no UTF-8", byAPIKey, func(int) wire { return asks("X-API-Key: k\xff\xfe") }, asks("X-API-Key: k\uFFFD\uFFFD")},
	}
}

// attacked: of each attack as many pass as the limit allows, and the victim has all of
// its own. A server may refuse an attack by itself.
func attacked(t *testing.T, d Driver) {
	const limit = 3
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) {
			policies := []Policies{{core.PerMinute(limit).Named("p").By(a.key)}}
			var routes []Route
			for _, route := range [][2]string{{"GET", "/"}, {"POST", "/"}, {"GET", "/users/{id}"}, {"GET", "/victim"}} {
				routes = append(routes, Route{route[0], route[1], nil, ok})
			}
			url := d.Serve(t, App{Options: fixed(), Global: policies, Routes: routes})
			ask := func(w wire) int {
				return raw(t, url, w.method, w.target, "", append([]string{"Host: h"}, w.lines...)...).status
			}
			passed, refused := 0, 0
			for i := range len(spellings("")) {
				switch status := ask(a.asks(i)); {
				case status == 200:
					passed++
				case status/100 == 4:
					refused++
				}
			}
			if passed > limit || refused == 0 {
				t.Errorf("%d passed at a limit of %d, and %d were refused", passed, limit, refused)
			}
			for i := range limit {
				if status := ask(a.victim); status != 200 {
					t.Fatalf("the victim's request %d is answered %d", i+1, status)
				}
			}
		})
	}
}
