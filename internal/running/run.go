package running

import (
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

var (
	// ErrNeverFilled is the end of a manager that was stopped before its caches were filled.
	ErrNeverFilled = errors.New("stopped before the caches were filled")
	// ErrLost is the end of a manager in whose place another one leads.
	ErrLost = errors.New("another manager leads")
)

// stopWithin is how long a manager whose caches aren't filled may take to stop.
const stopWithin = time.Second

// Run runs a manager until ctx ends, and then waits for its passes; or until lost is closed (nil: never), and then returns at once.
//
// A manager whose caches never get filled, because a role is missing, doesn't stop: in controller-runtime v0.25 runnableGroup.Start waits
// for the caches in a loop that the end of ctx only makes spin. No pass has begun by then, so that it can be left behind.
func Run(ctx context.Context, mgr manager.Manager, lost <-chan struct{}) error {
	filled, ended := make(chan struct{}), make(chan error, 1)
	filling, end := context.WithCancel(context.WithoutCancel(ctx)) // also after a stop: the caches may just have been filled
	defer end()
	go func() {
		if mgr.GetCache().WaitForCacheSync(filling) {
			close(filled)
		}
	}()
	go func() { ended <- mgr.Start(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-lost:
		return ErrLost
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return err
	case <-filled:
		return <-ended
	case <-time.After(stopWithin):
		return ErrNeverFilled
	}
}
