package redistest

import (
	"os/exec"
	"syscall"
)

// endWithParent has the child killed when this process dies, however it dies.
func endWithParent(child *exec.Cmd) {
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
