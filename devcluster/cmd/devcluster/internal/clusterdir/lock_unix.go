//go:build unix

package clusterdir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// ErrLocked means that a cluster is running in the directory, or is on its way up or down.
var ErrLocked = errors.New("a devcluster is running in this directory")

// Lock takes the directory's lock, without waiting.
//
// The file is handed to every component as an inherited descriptor. All of them share the one lock, so it
// stays held until the last process of the cluster is gone, even if the supervisor was killed: who gets the
// lock knows that nothing of an earlier cluster is left.
func (d Dir) Lock() (*os.File, error) {
	f, err := os.OpenFile(d.LockFile(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s: %w", d, ErrLocked)
		}
		return nil, fmt.Errorf("lock %s: %w", d.LockFile(), err)
	}
	return f, nil
}

// Running tells whether any process of a cluster in this directory is alive.
func (d Dir) Running() bool {
	if _, err := os.Stat(d.LockFile()); err != nil {
		return false
	}
	f, err := d.Lock()
	if err != nil {
		return errors.Is(err, ErrLocked)
	}
	f.Close()
	return false
}

// WaitStopped returns when no process of the cluster is left, or with ctx's error.
func (d Dir) WaitStopped(ctx context.Context) error {
	for d.Running() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: processes of the cluster are still running: %w", d, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}
