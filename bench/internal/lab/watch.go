package lab

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Watch watches a kind in a namespace from now on, and goes on where it was when the API server ends the request.
func Watch(ctx context.Context, c client.WithWatch, list client.ObjectList, namespace string) (watch.Interface, error) {
	in := client.InNamespace(namespace)
	if err := c.List(ctx, list, in); err != nil {
		return nil, err
	}
	return watchtools.NewRetryWatcherWithContext(ctx, list.GetResourceVersion(), &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return c.Watch(ctx, list, in, &client.ListOptions{Raw: &options})
		},
	})
}
