package watchcmd

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// source is where changes of one object come from: a watch, never polling.
type source struct {
	client client.WithWatch
	list   func() client.ObjectList
	// troubles are the errors after which it is tried again; nil when it went well.
	troubles chan error
}

// listWatch lists and watches one object.
func (s *source) listWatch(obj client.Object) toolscache.ListerWatcher {
	one := fields.OneTermEqualSelector("metadata.name", obj.GetName())
	options := func(o metav1.ListOptions) *client.ListOptions {
		return &client.ListOptions{Namespace: obj.GetNamespace(), FieldSelector: one, Raw: &o}
	}
	return &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list := s.list()
			return list, s.report(ctx, s.client.List(ctx, list, options(o)))
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := s.client.Watch(ctx, s.list(), options(o))
			return w, s.report(ctx, err)
		},
	}
}

// report passes on an error, or that there is none any more, and returns it.
func (s *source) report(ctx context.Context, err error) error {
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return err // a list follows
	}
	select {
	case s.troubles <- err:
	case <-ctx.Done():
	}
	return err
}

// refusedFor is how long an API server that has shown the object may refuse it: one that has just started refuses everyone until it has
// read the roles.
const refusedFor = 30 * time.Second

// isHopeless reports whether to try again would change nothing, unless the API server has just started.
func isHopeless(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err) || meta.IsNoMatchError(err)
}
