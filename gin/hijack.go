package ratelimit

import (
	"bufio"
	"net"
	"net/http"

	"github.com/gin-gonic/gin"
)

// hijackWatch is gin's writer, which knows the status of an answer but not whether
// the handler took the connection over.
type hijackWatch struct {
	gin.ResponseWriter
	hijacked bool
}

// Hijack takes the connection over.
func (w *hijackWatch) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := w.ResponseWriter.Hijack()
	w.hijacked = w.hijacked || err == nil
	return conn, buffered, err
}

// Unwrap is for [http.ResponseController].
func (w *hijackWatch) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// outcome is the answer's status, 0 where nothing is known.
func (w *hijackWatch) outcome() int {
	if w.hijacked {
		return 0
	}
	return w.Status()
}
