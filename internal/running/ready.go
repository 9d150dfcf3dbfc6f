package running

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// CacheReady returns a check that passes once the caches have what the operators read: until then nothing can be decided. It doesn't let
// the kubelet wait for that.
func CacheReady(mgr manager.Manager) healthz.Checker {
	filled := &atomic.Bool{}
	return func(r *http.Request) error {
		if filled.Load() {
			return nil
		}
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return errors.New("the caches are not filled yet")
		}
		filled.Store(true)
		return nil
	}
}
