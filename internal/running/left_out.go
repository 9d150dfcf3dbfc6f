package running

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// leftOutTimeout is how long a program waits for the permission to list in a namespace: role bindings may have been applied a moment ago.
const leftOutTimeout = 15 * time.Second

// LeftOut returns the watched namespaces in which the program may not list one of the kinds: the role bindings of a deleted namespace are
// gone with it. The caches are filled only once all namespaces are listed, so one such namespace would stop the work in the others. A kind
// that the program may list in none of the namespaces doesn't count. A program that would leave out all namespaces leaves out none, and
// waits for its permissions.
func LeftOut(ctx context.Context, c client.Reader, namespaces []string, kinds []schema.GroupVersionKind, logger logr.Logger) []string {
	if len(namespaces) < 2 {
		return nil
	}
	forbidden := map[schema.GroupVersionKind]map[string]error{}
	_ = wait.PollUntilContextTimeout(ctx, time.Second, leftOutTimeout, true, func(context.Context) (bool, error) {
		all := 0
		for _, kind := range kinds {
			forbidden[kind] = forbiddenIn(ctx, c, namespaces, kind)
			all += len(forbidden[kind])
		}
		return all == 0, nil
	})
	leftOut := map[string]error{}
	for _, in := range forbidden {
		if len(in) < len(namespaces) {
			maps.Copy(leftOut, in)
		}
	}
	if len(leftOut) == len(namespaces) {
		return nil
	}
	for name, err := range leftOut {
		logger.Error(err, "a namespace of --watch-namespaces is left out: it or its role bindings don't exist; "+
			"restart the program once they do", "namespace", name)
	}
	return slices.Sorted(maps.Keys(leftOut))
}

// forbiddenIn returns the API server's refusals to list a kind, by namespace. Other errors are none: the caches try again after them.
func forbiddenIn(ctx context.Context, c client.Reader, namespaces []string, kind schema.GroupVersionKind) map[string]error {
	forbidden := map[string]error{}
	for _, namespace := range namespaces {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := c.List(ctx, list, client.InNamespace(namespace), client.Limit(1)); apierrors.IsForbidden(err) {
			forbidden[namespace] = err
		}
	}
	return forbidden
}
