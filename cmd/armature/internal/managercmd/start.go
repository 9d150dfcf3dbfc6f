package managercmd

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

// start runs the manager until ctx ends, or until lost is closed: then the process has to end at once.
//
// A manager whose caches never get filled, because a role is missing, doesn't stop: in controller-runtime v0.25
// runnableGroup.Start waits for the caches in a loop that the end of ctx only makes spin. Nothing has been begun by then, so
// that it can be left behind.
func start(ctx context.Context, mgr ctrl.Manager, lost <-chan struct{}, logger logr.Logger) error {
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-lost:
		return errLeaseLost
	case <-ctx.Done():
	}
	soon, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if !mgr.GetCache().WaitForCacheSync(soon) {
		logger.Info("stopped before the caches were filled")
		return nil
	}
	return <-ended
}
