package managercmd

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/operators/fluxjob"
)

// shard returns what selects the objects that are worked on; nil if all are.
func (o options) shard() (labels.Selector, error) {
	if o.selector == "" {
		return nil, nil
	}
	selector, err := labels.Parse(o.selector)
	if err != nil {
		return nil, fmt.Errorf("--selector: %w", err)
	}
	operators, err := selectOperators(o.operators)
	if err != nil {
		return nil, err
	}
	requirements, _ := selector.Requirements()
	for _, r := range requirements {
		if r.Key() != v1alpha1.LabelShard && slices.ContainsFunc(operators, func(op operator) bool { return op.name == fluxjob.Name }) {
			return nil, fmt.Errorf("--selector: it is about the label %s; "+
				"with the operator %s it can only be about %s, which MiniClusters get from their FluxJob",
				r.Key(), fluxjob.Name, v1alpha1.LabelShard)
		}
	}
	return selector, nil
}

// cached says of which kinds not all objects are kept in memory: of the cluster's pods the operators' own, and
// of what they run what is selected.
func cached(shard labels.Selector) map[client.Object]cache.ByObject {
	ours := labels.SelectorFromSet(labels.Set{wellknown.LabelManagedBy: wellknown.ManagedBy})
	some := map[client.Object]cache.ByObject{
		&corev1.Pod{}: {Label: ours},
	}
	if shard == nil {
		return some
	}
	for _, op := range bundled {
		some[op.runs] = cache.ByObject{Label: shard}
	}
	// A queue counts the jobs that its manager sees, so it is one manager's, as these are.
	some[&v1alpha1.FluxSetup{}] = cache.ByObject{Label: shard}
	return some
}
