// Package keyfuncs says whom a request is counted against: ready-made keys for
// [core.Policy.By].
//
//	core.PerMinute(300).By(keyfuncs.IP())                                   // the peer, never a header
//	core.PerMinute(300).By(keyfuncs.IP(keyfuncs.TrustProxies("10.0.0.0/8"))) // behind your own proxies
//	core.PerSecond(10).By(keyfuncs.Header("X-API-Key"))                     // stored as a hash
//	core.PerMinute(20).By(keyfuncs.IP(), keyfuncs.Route())                  // both together
//	core.PerMinute(60).By(keyfuncs.First(keyfuncs.BearerToken(), keyfuncs.IP()))
//
// # What a client can choose
//
// A key that a client may write freely (a header, a cookie, a query parameter, a
// host) limits honest clients only: who invents a new value has a new budget. Use
// it with a policy by [IP] beside it, or behind what checks it ([User]).
//
// # Nothing found
//
// Where a request does not have what a key asks for, the key gives
// [core.ErrNoKey], and the policy's NoKey decides. Two lines of a header that
// should have one, and a cookie sent twice, are nothing found: which of them the
// handler will believe is not known here.
//
// # Secrets
//
// API keys, tokens and cookies become the first 128 bits of their SHA-256 hash
// before they leave this package. Addresses, users, hosts and routes stay readable.
//
// The functions panic at start-up on misuse (a name left empty, a nil function, a
// network that is none), with the mend in the text. The keys that they return are
// safe for concurrent use.
package keyfuncs
