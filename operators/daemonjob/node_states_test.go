package daemonjob

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestNodeStates(t *testing.T) {
	job := &v1alpha1.DaemonJob{}
	job.Name = "j"
	job.Spec.ExcludeNodeList = "n5"
	job.Status = v1alpha1.DaemonJobStatus{
		SucceededNodes: "n[1-2]", FailedNodes: "n3", Failures: []v1alpha1.NodeFailure{{Node: "n3", Message: "BackoffLimitExceeded"}},
	}
	nodes := make([]corev1.Node, 7)
	for i, name := range []string{"n1", "n2", "n3", "n4", "n5", "n6", "master"} {
		nodes[i].Name = name
	}
	nodes[5].Spec.Unschedulable = true
	nodes[6].Spec.Taints = []corev1.Taint{{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule}}
	assert.Equal(t, []NodeState{
		{"n1", "Succeed", ""}, {"n2", "Succeed", ""}, {"n3", "Failed", "BackoffLimitExceeded"}, {"n4", NodePending, ""},
		{"n6", NodeWaiting, "is cordoned"},
	}, NodeStates(job, nodes))
}
