// Package flowstate returns the state of each node of a JobFlow, from the details and the indexes of its status.
package flowstate

import (
	"github.com/armature-dev/armature/api/v1alpha1"
)

// Of returns a status for each node of a flow: those of spec.flows in their order, then those of spec.finally. Without
// details in the flow's status, it has only a name and a state.
func Of(flow *v1alpha1.JobFlow) []v1alpha1.FlowStatus {
	all := make([]v1alpha1.FlowStatus, 0, len(flow.Spec.Flows)+len(flow.Spec.Finally))
	for _, nodes := range [][]v1alpha1.Flow{flow.Spec.Flows, flow.Spec.Finally} {
		for i := range nodes {
			all = append(all, v1alpha1.FlowStatus{Name: nodes[i].Name, State: v1alpha1.FlowPending})
		}
	}
	setEnds(all, flow)
	details := make(map[string]*v1alpha1.FlowStatus, len(flow.Status.Flows))
	for i := range flow.Status.Flows {
		details[flow.Status.Flows[i].Name] = &flow.Status.Flows[i]
	}
	for i := range all {
		if known := details[all[i].Name]; known != nil {
			all[i] = *known
		}
	}
	return all
}

// setEnds sets the outcomes of nodes that a large JobFlow's status has as indexes only.
func setEnds(all []v1alpha1.FlowStatus, flow *v1alpha1.JobFlow) {
	for _, e := range endsOf(flow) {
		for i := range e.indexes.Below(len(all)) {
			all[i].State = e.state
		}
	}
}

// end is a way to end, and the nodes that have ended so.
type end struct {
	state   v1alpha1.FlowState
	indexes v1alpha1.Indexes
}

// endsOf returns how nodes have ended. The indexes are those of the spec that the status is about.
func endsOf(flow *v1alpha1.JobFlow) []end {
	ends := []end{{state: v1alpha1.FlowSucceed}, {state: v1alpha1.FlowFailed}, {state: v1alpha1.FlowSkipped}}
	if flow.Status.ObservedGeneration == flow.Generation {
		ends[0].indexes, ends[1].indexes, ends[2].indexes = flow.Status.Finished, flow.Status.Failed, flow.Status.Skipped
	}
	return ends
}
