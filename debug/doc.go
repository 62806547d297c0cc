// Package debug answers: why was this client refused? It is a handler of net/http
// that shows the policies in force, what a client has used of one, what remains and
// until when it is blocked, and the most refused clients.
//
//	shown := debug.New(debug.Options{Authorize: isOperator})
//	limits := ratelimit.With(ratelimit.Options{Observers: []pipeline.Observer{shown}})
//	mux.Handle("/debug/ratelimit", operatorsOnly(shown))
//
// Nothing is mounted by itself. Who may read is for the middleware around the
// handler to say; who may act (reset a client, block one) for Authorize. In Gin it is
// gin.WrapH(shown), in Echo echo.WrapHandler(shown), in Fiber adaptor.HTTPHandler(shown).
//
// # Requests
//
//	GET  ?                            the policies and the most refused clients
//	GET  ?policy=p&key=192.0.2.1      what the client has used, and what it meets now
//	POST policy=p&key=...             the same, without the key in the URL
//	POST policy=p&key=...&action=reset
//	POST policy=p&key=...&action=block&length=10m
//
// The answer is JSON for who accepts it, or with format=json; else a page. Nothing
// that a GET does changes anything, and a POST of another site's page is refused.
//
// # Clients
//
// as=key (the default) takes the key as it is. as=ip groups an address as the key
// IP does, as=secret hashes an API key, token or cookie as package keyfuncs does, and
// as=peer is the address by which a request without the key is counted. Several keys
// are joined, as policies By several keys do. A client of the list of the most
// refused is found by client=hash.
package debug
