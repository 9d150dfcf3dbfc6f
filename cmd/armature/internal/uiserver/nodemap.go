package uiserver

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/daemonjob"
)

// mapNode is a node of the cluster on the map of a DaemonJob.
type mapNode struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	Tone    tone   `json:"tone"`
	Message string `json:"message,omitempty"`
	Job     string `json:"job,omitempty"`
}

// clusterNodeOf keeps of a node what decides whether a DaemonJob is for it.
func clusterNodeOf(u *unstructured.Unstructured) corev1.Node {
	full, small := &corev1.Node{}, corev1.Node{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, full) == nil {
		small.Name, small.UID, small.Labels, small.DeletionTimestamp = full.Name, full.UID, full.Labels, full.DeletionTimestamp
		small.Spec.Unschedulable, small.Spec.Taints = full.Spec.Unschedulable, full.Spec.Taints
	}
	return small
}

// daemonRun is a DaemonJob's Job on a node.
type daemonRun struct {
	jobTimes
	on string
}

func daemonRunOf(u *unstructured.Unstructured) daemonRun {
	return daemonRun{jobTimes: jobTimesOf(u), on: u.GetAnnotations()[daemonjob.AnnotationNode]}
}

// nodeMap is the map as one stream has sent it.
type nodeMap struct {
	nodes map[types.UID]corev1.Node
	runs  map[types.UID]daemonRun
	sent  map[string]mapNode
}

func newNodeMap() *nodeMap {
	return &nodeMap{nodes: map[types.UID]corev1.Node{}, runs: map[types.UID]daemonRun{}, sent: map[string]mapNode{}}
}

// update takes what has changed, and returns the nodes of the map that have. Without the right to list nodes the map has those that
// have a Job.
func (m *nodeMap) update(
	job *v1alpha1.DaemonJob, nodes changes[corev1.Node], runs changes[daemonRun],
) (changed []mapNode, gone []string) {
	for i := range nodes.set {
		m.nodes[nodes.set[i].UID] = nodes.set[i]
	}
	for _, uid := range nodes.gone {
		delete(m.nodes, uid)
	}
	for _, r := range runs.set {
		m.runs[r.uid] = r
	}
	for _, uid := range runs.gone {
		delete(m.runs, uid)
	}
	if job == nil {
		return nil, nil
	}
	now := m.now(job)
	for name, n := range now {
		if m.sent[name] != n {
			changed = append(changed, n)
		}
	}
	for name := range m.sent {
		if _, ok := now[name]; !ok {
			gone = append(gone, name)
		}
	}
	m.sent = now
	slices.SortFunc(changed, func(a, b mapNode) int { return compareNames(a.Name, b.Name) })
	slices.Sort(gone)
	return changed, gone
}

// now is the map as it should be.
func (m *nodeMap) now(job *v1alpha1.DaemonJob) map[string]mapNode {
	all := make([]corev1.Node, 0, len(m.nodes))
	for _, n := range m.nodes {
		all = append(all, n)
	}
	now := map[string]mapNode{}
	for _, s := range daemonjob.NodeStates(job, all) {
		now[s.Node] = mapNode{Name: s.Node, State: s.State, Message: s.Message}
	}
	for _, r := range m.runs {
		n, known := now[r.on]
		if r.owner != job.UID || r.on == "" || !known && len(m.nodes) > 0 { // its node is gone
			continue
		}
		n.Name, n.Job = r.on, r.name
		switch {
		case n.State == string(v1alpha1.StateSucceed), n.State == string(v1alpha1.StateFailed):
		case !r.ended.IsZero() && r.failed:
			n.State = string(v1alpha1.StateFailed)
		case !r.ended.IsZero():
			n.State = string(v1alpha1.StateSucceed)
		case r.suspended:
			n.State = string(v1alpha1.StateSuspended)
		default:
			n.State = string(v1alpha1.StateRunning)
		}
		now[r.on] = n
	}
	for name, n := range now {
		n.Tone = nodeTone(v1alpha1.FlowState(n.State))
		now[name] = n
	}
	return now
}
