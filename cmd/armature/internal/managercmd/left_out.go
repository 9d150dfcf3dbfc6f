package managercmd

import (
	"context"
	"slices"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// namespaces returns the watched namespaces without those that are left out. None means all of the cluster.
func (o options) namespaces() []string {
	return slices.DeleteFunc(slices.Clone(o.watchNamespaces), func(name string) bool { return slices.Contains(o.leftOut, name) })
}

// leftOutTimeout is how long the manager waits for the permission to list in a namespace: role bindings may have been applied a moment ago.
const leftOutTimeout = 15 * time.Second

// leaveOut returns the watched namespaces in which the manager may not list its objects: the role bindings of a deleted namespace are gone
// with it. The caches are filled only once all namespaces are listed, so one such namespace would stop the work in the others. A manager
// that may list in none leaves out none, and waits for its permissions.
func leaveOut(ctx context.Context, o options, operators []operator, logger logr.Logger) ([]string, error) {
	if len(o.watchNamespaces) < 2 {
		return nil, nil
	}
	cfg, err := restConfig(o)
	if err != nil {
		return nil, err
	}
	c, err := client.New(cfg, client.Options{Scheme: newScheme()})
	if err != nil {
		return nil, err
	}
	return o.forbidden(ctx, c, operators, leftOutTimeout, logger), nil
}

// forbidden returns the namespaces that are left out.
func (o options) forbidden(ctx context.Context, c client.Reader, operators []operator, timeout time.Duration, logger logr.Logger) []string {
	var forbidden map[string]error
	_ = wait.PollUntilContextTimeout(ctx, time.Second, timeout, true, func(context.Context) (bool, error) {
		forbidden = forbiddenIn(ctx, c, o.watchNamespaces, operators)
		return len(forbidden) == 0, nil
	})
	var names []string
	for _, name := range o.watchNamespaces {
		if forbidden[name] != nil {
			names = append(names, name)
		}
	}
	if len(names) == len(o.watchNamespaces) {
		return nil
	}
	for _, name := range names {
		logger.Error(forbidden[name], "a namespace of --watch-namespaces is left out: it or its role bindings don't exist; "+
			"restart the managers once they do", "namespace", name)
	}
	return names
}

// forbiddenIn returns the API server's refusals to list owners, by namespace. Other errors are none: the caches try again after them.
func forbiddenIn(ctx context.Context, c client.Reader, namespaces []string, operators []operator) map[string]error {
	forbidden := map[string]error{}
	for _, namespace := range namespaces {
		for _, op := range operators {
			owners := &metav1.PartialObjectMetadataList{}
			owners.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(op.kinds[0] + "List"))
			if err := c.List(ctx, owners, client.InNamespace(namespace), client.Limit(1)); apierrors.IsForbidden(err) {
				forbidden[namespace] = err
				break
			}
		}
	}
	return forbidden
}
