package containernode

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// isolatedEnv names the network namespace that Isolate made for this process.
const isolatedEnv = "DEVCLUSTER_NETWORK"

// Isolate moves this process into a network namespace of its own, by running its program again in the same process.
// It returns nil when it has happened.
//
// A Go program can't change the namespace of the threads it already has. But a thread that does, and then executes a
// program, takes the whole process with it, and keeps its PID, its parent and its descriptors.
func Isolate() error {
	if here, err := os.Readlink(ownNetwork); err == nil && os.Getenv(isolatedEnv) == here {
		os.Unsetenv(isolatedEnv)
		return nil
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("make a network namespace: %w", err)
	}
	here, err := os.Readlink("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(exe, os.Args, append(os.Environ(), isolatedEnv+"="+here))
}

const ownNetwork = "/proc/self/ns/net"

// Inside tells whether this process is in the network namespace of the process that has this PID.
func Inside(pid int) bool {
	here, err := os.Readlink(ownNetwork)
	there, otherErr := os.Readlink(network(pid))
	return err == nil && otherErr == nil && here == there
}

func network(pid int) string { return fmt.Sprintf("/proc/%d/ns/net", pid) }

// Exec replaces this process by a program that runs in the network namespace of the process that has this PID.
func Exec(pid int, program string, args, env []string) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := enter(pid); err != nil {
		return err
	}
	if err := syscall.Exec(program, args, env); err != nil {
		return fmt.Errorf("run %s: %w", program, err)
	}
	return nil
}

func enter(pid int) error {
	namespace, err := os.Open(network(pid))
	if err != nil {
		return fmt.Errorf("enter the cluster's network, which needs root: %w", err)
	}
	defer namespace.Close()
	if err := unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter the cluster's network, which needs root: %w", err)
	}
	return nil
}

// Dialer dials from the network namespace of the process that has this PID.
func Dialer(pid int) func(ctx context.Context, protocol, address string) (net.Conn, error) {
	return func(ctx context.Context, protocol, address string) (net.Conn, error) {
		type result struct {
			conn net.Conn
			err  error
		}
		done := make(chan result, 1)
		go func() {
			// The thread is not unlocked: it ends with this goroutine, instead of serving others in the wrong place.
			runtime.LockOSThread()
			if err := enter(pid); err != nil {
				done <- result{nil, err}
				return
			}
			conn, err := (&net.Dialer{}).DialContext(ctx, protocol, address)
			done <- result{conn, err}
		}()
		r := <-done
		return r.conn, r.err
	}
}
