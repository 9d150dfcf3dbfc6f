package replicajob

import (
	"github.com/armature-dev/armature/api/v1alpha1"
)

// mayStart reports whether all that a type depends on is as far as it must be. It is asked for each pod that is made, so
// that the order is kept in a restart and a resume as well.
func (r *roster) mayStart(t *team) bool {
	for _, d := range t.spec.DependsOn {
		for _, other := range r.teams {
			if other.name == d.Type && !other.isAsFarAs(d.Status) {
				return false
			}
		}
	}
	return true
}

// isAsFarAs reports whether all replicas of a type are as far as that.
func (t *team) isAsFarAs(status v1alpha1.DependencyStatus) bool {
	for i := range t.slots {
		s := &t.slots[i]
		if status == v1alpha1.DependencyComplete && s.state != succeeded || !s.isReady() {
			return false
		}
	}
	return true
}

// cycle returns the types of a cycle of dependencies, each followed by one that it depends on, or nil.
func cycle(w *World) []v1alpha1.ReplicaType {
	const onPath, done = 1, 2
	visited := map[v1alpha1.ReplicaType]int{}
	var path []v1alpha1.ReplicaType
	var visit func(t v1alpha1.ReplicaType) []v1alpha1.ReplicaType
	visit = func(t v1alpha1.ReplicaType) []v1alpha1.ReplicaType {
		switch visited[t] {
		case done:
			return nil
		case onPath:
			for path[0] != t {
				path = path[1:]
			}
			return path
		}
		visited[t] = onPath
		path = append(path, t)
		for _, d := range w.specs[t].DependsOn {
			if found := visit(d.Type); found != nil {
				return found
			}
		}
		visited[t], path = done, path[:len(path)-1]
		return nil
	}
	for _, t := range w.types {
		if found := visit(t); found != nil {
			return found
		}
	}
	return nil
}
