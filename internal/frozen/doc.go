// Package frozen holds the test of a service whose Redis freezes under load. It is a
// module of its own, since what finds leaks is not to enter the library's requirements.
package frozen
