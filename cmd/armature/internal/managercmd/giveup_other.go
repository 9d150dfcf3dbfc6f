//go:build !linux

package managercmd

import (
	"syscall"
	"time"
)

// giveUpAfter does nothing: a manager that leads in a cluster runs on Linux.
func giveUpAfter(time.Duration) func(network, address string, conn syscall.RawConn) error { return nil }
