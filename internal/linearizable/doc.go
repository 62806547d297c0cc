// Package linearizable checks that concurrent decisions are those of one after the
// other: histories of real stores are given to porcupine with a model of what a decision
// is. The model shares no arithmetic with the library: it knows what a state counts at a
// time, and finds waits by trying.
//
// It is a module of its own, since the checker is not to enter the library's requirements.
package linearizable
