package flowstate

import (
	"maps"
	"slices"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// Update changes the statuses that [Of] has returned for a version of a flow to those of a later version with the same spec. It returns
// the indexes of the nodes that it has checked: those of which either status has details, and those that have ended in between, or no
// longer have. Nodes are found by their names. Its work is proportional to these, and to the intervals of the indexes in the statuses.
func Update(all []v1alpha1.FlowStatus, byName map[string]int, before, after *v1alpha1.JobFlow) []int {
	touched := map[int]bool{}
	for _, flow := range []*v1alpha1.JobFlow{before, after} {
		for i := range flow.Status.Flows {
			if node, ok := byName[flow.Status.Flows[i].Name]; ok && node < len(all) {
				touched[node] = true
			}
		}
	}
	ended := endsOf(after)
	for k, earlier := range endsOf(before) {
		for first, last := range difference(boundsOf(earlier.indexes, len(all)), boundsOf(ended[k].indexes, len(all))).intervals() {
			for i := first; i <= last; i++ {
				touched[i] = true
			}
		}
	}
	for i := range touched {
		all[i] = v1alpha1.FlowStatus{Name: all[i].Name, State: v1alpha1.FlowPending}
	}
	for _, e := range ended {
		set := boundsOf(e.indexes, len(all))
		for i := range touched {
			if set.has(i) {
				all[i].State = e.state
			}
		}
	}
	for i := range after.Status.Flows {
		if node, ok := byName[after.Status.Flows[i].Name]; ok && node < len(all) {
			all[node] = after.Status.Flows[i]
		}
	}
	return slices.Sorted(maps.Keys(touched))
}
