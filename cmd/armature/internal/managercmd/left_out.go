package managercmd

import (
	"context"
	"slices"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/internal/running"
)

// namespaces returns the watched namespaces without those that are left out. None means all of the cluster.
func (o options) namespaces() []string {
	return slices.DeleteFunc(slices.Clone(o.watchNamespaces), func(name string) bool { return slices.Contains(o.leftOut, name) })
}

// leaveOut returns the watched namespaces in which the manager may not list its objects.
func leaveOut(ctx context.Context, o options, operators []operator, logger logr.Logger) (*running.LeftOut, error) {
	cfg, err := restConfig(o)
	if err != nil {
		return nil, err
	}
	var owners []schema.GroupVersionKind
	for _, op := range operators {
		owners = append(owners, v1alpha1.GroupVersion.WithKind(op.kinds[0]))
	}
	return running.LeaveOut(ctx, cfg, o.watchNamespaces, owners, logger)
}
