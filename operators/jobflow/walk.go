package jobflow

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/podtemplate"
)

// walk is what one walk over a valid flow's graph found.
type walk struct {
	// nodes are the nodes' new states, in the spec's order.
	nodes []v1alpha1.FlowStatus
	// start are the Jobs of the nodes that have none and whose dependencies have all succeeded.
	start []builder.Child
	// obstacles are what nodes wait for besides their dependencies, in the spec's order.
	obstacles []obstacle
}

// obstacle keeps one node from starting, until a JobTemplate is made or mended.
type obstacle struct {
	node, reason, message string
}

// walkGraph looks at each node once, after its dependencies. Time is linear in nodes and edges.
func walkGraph(flow *v1alpha1.JobFlow, g graph, known records, seen builder.View) walk {
	nodes := flow.Spec.Flows
	w := walk{nodes: make([]v1alpha1.FlowStatus, len(nodes))}
	ready := make([]bool, len(nodes))
	culprit := make([]int, len(nodes)) // of a node that failed or is skipped: the one that failed
	for _, i := range g.order {
		s := known.of(nodes[i].Name, JobName(flow.Name, nodes[i].Name))
		culprit[i] = i
		if s.State == v1alpha1.FlowPending {
			ready[i] = true
			for _, d := range g.dependencies[i] {
				switch w.nodes[d].State {
				case v1alpha1.FlowSucceed:
					continue
				case v1alpha1.FlowFailed, v1alpha1.FlowSkipped:
					if s.State != v1alpha1.FlowSkipped {
						s.State = v1alpha1.FlowSkipped
						s.Message = "not started: " + nodes[culprit[d]].Name + " failed"
						culprit[i] = culprit[d]
					}
				}
				ready[i] = false
			}
		}
		w.nodes[i] = s
	}
	for i := range nodes {
		if w.nodes[i].State != v1alpha1.FlowPending {
			continue
		}
		template, obstacle := template(flow, i, seen)
		switch {
		case obstacle != nil: // told of early, so that there is time to mend it
			w.nodes[i].Message = obstacle.message
			w.obstacles = append(w.obstacles, *obstacle)
		case ready[i]:
			w.start = append(w.start, builder.Want(render(flow, &nodes[i], template)))
		}
	}
	return w
}

// template returns the Job spec of a node, or what is in the way of having it.
func template(flow *v1alpha1.JobFlow, i int, seen builder.View) (*batchv1.JobSpec, *obstacle) {
	node := &flow.Spec.Flows[i]
	if node.JobTemplateRef == "" {
		return node.JobTemplate, nil
	}
	path := field.NewPath("spec", "flows").Index(i)
	found, ok := builder.Referred[*v1alpha1.JobTemplate](seen, node.JobTemplateRef)
	if !ok {
		return nil, &obstacle{node.Name, v1alpha1.ReasonJobTemplateNotFound,
			fmt.Sprintf("waits for JobTemplate %q: %s", node.JobTemplateRef,
				field.NotFound(path.Child("jobTemplateRef"), node.JobTemplateRef))}
	}
	for j, mount := range node.ShareVolumeMounts {
		if !podtemplate.HasVolume(flow.Spec.ShareVolumes, mount.Name) && !podtemplate.HasVolume(found.Spec.JobTemplate.Template.Spec.Volumes, mount.Name) {
			return nil, &obstacle{node.Name, v1alpha1.ReasonInvalidSpec,
				fmt.Sprintf("neither shareVolumes nor JobTemplate %q has the volume: %s", node.JobTemplateRef,
					field.NotFound(path.Child("shareVolumeMounts").Index(j).Child("name"), mount.Name))}
		}
	}
	return &found.Spec.JobTemplate, nil
}
