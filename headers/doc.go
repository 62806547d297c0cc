// Package headers writes what a client is told: the RateLimit fields in several
// dialects, Retry-After, and the body of a refusal.
//
// The default is the syntax of draft-ietf-httpapi-ratelimit-headers-11, an
// Internet-Draft that may still change, together with the three classic fields:
//
//	RateLimit-Policy: "ip";q=100;w=60, "day";q=1000;w=86400
//	RateLimit: "ip";r=99;t=60, "day";r=998;t=86400
//	RateLimit-Limit: 100
//	RateLimit-Remaining: 99
//	RateLimit-Reset: 60
//
// Lists name every policy, single values are those of the tightest policy. Policies
// that enforce nothing are not shown: unlimited ones, and those that run dry or
// degrade, since a client must not pace itself by a limit that is not enforced.
//
// Seconds to wait are rounded up and units left are rounded down, so that a client
// that believes them is not refused. Only Retry-After drives real clients' retries;
// it is on every refusal that a wait can mend.
package headers
