//go:build unix

package redistest

import "syscall"

// Freeze stops the server's process where it is: its sockets stay open and silent.
func (s *Server) Freeze() { must(s.process.Process.Signal(syscall.SIGSTOP)) }

// Thaw lets a frozen server go on.
func (s *Server) Thaw() { must(s.process.Process.Signal(syscall.SIGCONT)) }
