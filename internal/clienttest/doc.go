// Package clienttest holds the fields and the refusals against the world: a
// well-kept parser of structured fields reads every field, and real clients come
// back when they are told to and are admitted. It needs curl, node and npm.
package clienttest
