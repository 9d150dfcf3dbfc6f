package replicajob

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/graph"
)

// missingPods returns the pods to create, up to one more than a batch: those of replicas without a pod whose type may start.
func (p *pass) missingPods(o *observed) []*corev1.Pod {
	var pods []*corev1.Pod
	for _, g := range o.groups {
		first := true
		for i := range g.replicas {
			if g.replicas[i].state != missing {
				continue
			}
			if first && !o.mayStart(g) {
				break
			}
			first = false
			if pods = append(pods, p.render(g, i)); len(pods) > batch {
				return pods
			}
		}
	}
	return pods
}

// mayStart reports whether all types that a type depends on have the status that it requires. It holds for each pod that is
// created, so a restart and a resume keep the order, too.
func (o *observed) mayStart(g *group) bool {
	for _, d := range g.spec.DependsOn {
		for _, other := range o.groups {
			if other.name == d.Type && !other.has(d.Status) {
				return false
			}
		}
	}
	return true
}

// has reports whether all replicas of a type have the status.
func (g *group) has(status v1alpha1.DependencyStatus) bool {
	for i := range g.replicas {
		r := &g.replicas[i]
		if status == v1alpha1.DependencyComplete && r.state != succeeded || !r.isReady() {
			return false
		}
	}
	return true
}

// cycle returns the types of a cycle of dependencies, each followed by one that it depends on, or nil.
func cycle(w *World) []v1alpha1.ReplicaType {
	return graph.Cycle(w.types, func(t v1alpha1.ReplicaType) []v1alpha1.ReplicaType {
		var types []v1alpha1.ReplicaType
		for _, d := range w.specs[t].DependsOn {
			types = append(types, d.Type)
		}
		return types
	})
}
