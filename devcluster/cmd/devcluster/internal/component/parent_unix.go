//go:build unix

package component

import (
	"io"
	"os"
	"syscall"
	"time"
)

// stopGrace is how long a component may take to stop after the supervisor is gone.
const stopGrace = 5 * time.Second

// lockFD is the descriptor of the cluster directory's lock, which the supervisor hands down.
const lockFD = 3

// exitWithSupervisor ends this process when standard input closes: gracefully, else hard.
func exitWithSupervisor() {
	// Containers started by a component must not inherit the lock: they are not part of the cluster's set.
	syscall.CloseOnExec(lockFD)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		time.AfterFunc(stopGrace, func() { os.Exit(1) })
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
	}()
}
