package dsoi

import (
	"cmp"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder"
)

// Scaling is an object that says how nodes of a cluster are scaled: a pointer to a kind of yours that embeds DSOI's
// types. Package github.com/armature-dev/armature/dsoi/scaling is its controller.
type Scaling interface {
	builder.Conditioned
	// ScalingSpec returns what the spec says, in DSOI's terms.
	ScalingSpec() *v1beta1.ScalingSpec
	// ScalingStatus returns the place of the status.
	ScalingStatus() *v1beta1.ScalingStatus
}

// ScaledCluster returns the name of the cluster that a Scaling is for.
func ScaledCluster(s Scaling) string { return cmp.Or(s.ScalingSpec().Cluster, s.GetName()) }

// namesScaledCluster returns the cluster that an object scales.
func namesScaledCluster(obj client.Object) []string {
	if s, ok := obj.(Scaling); ok {
		return []string{ScaledCluster(s)}
	}
	return nil
}

// scaledBy returns the nodes, or their workloads, whose replicas Scalings of the cluster look after.
func scaledBy(view builder.View, like Scaling) map[string]bool {
	if like == nil {
		return nil
	}
	var scaled map[string]bool
	for _, s := range builder.Watched[Scaling](view) {
		if s.GetDeletionTimestamp() != nil {
			continue
		}
		for i := range s.ScalingSpec().Autoscaling {
			if n := &s.ScalingSpec().Autoscaling[i]; n.Spec != nil && ptr.Deref(n.Spec.Enable, true) {
				if scaled == nil {
					scaled = map[string]bool{}
				}
				scaled[n.Name] = true
			}
		}
	}
	return scaled
}
