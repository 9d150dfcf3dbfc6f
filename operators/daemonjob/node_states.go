package daemonjob

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/hostlist"
)

// NodeState says how far a DaemonJob is on one node, as far as its status and the node report it.
type NodeState struct {
	// Node is the node's name.
	Node string
	// State is Succeed or Failed if the status records it, Waiting if the node can't take a pod now, and otherwise Pending: the node
	// has no Job yet, or its Job hasn't ended.
	State string
	// Message says why the node failed, if it is among the last failures, or why it can't take a pod.
	Message string
}

// The states of a node that no kind of the API has.
const (
	// NodeWaiting is the state of a node that can't take a pod now.
	NodeWaiting = "Waiting"
	// NodePending is the state of a node whose Job hasn't ended, or hasn't started.
	NodePending = "Pending"
)

// NodeStates returns the state of each of these nodes that a DaemonJob is for, or has run on, in their order. It is for those who show
// a DaemonJob.
func NodeStates(job *v1alpha1.DaemonJob, nodes []corev1.Node) []NodeState {
	eligible, _ := eligibleNodes(job, &render(job).Spec.Template.Spec)
	succeeded, failed := hostlist.Parse(job.Status.SucceededNodes), hostlist.Parse(job.Status.FailedNodes)
	messages := map[string]string{}
	for _, f := range job.Status.Failures {
		messages[f.Node] = f.Message
	}
	var states []NodeState
	for i := range nodes {
		s := NodeState{Node: nodes[i].Name, State: NodePending}
		switch {
		case succeeded.Has(s.Node):
			s.State = string(v1alpha1.StateSucceed)
		case failed.Has(s.Node):
			s.State, s.Message = string(v1alpha1.StateFailed), messages[s.Node]
		case !eligible.matches(&nodes[i]):
			continue
		default:
			if s.Message = eligible.blocker(&nodes[i]); s.Message != "" {
				s.State = NodeWaiting
			}
		}
		states = append(states, s)
	}
	return states
}
