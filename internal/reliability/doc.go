// Package reliability holds the tests of what happens when Redis fails, when clocks
// jump and when someone attacks, on real processes. docs/reliability.md tells what is
// promised, and which of these tests shows it.
package reliability
