//go:build e2e

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// A node is drained while a flow, a DaemonJob and a ReplicaJob run on it. The flow has the rule of docs/recipes.md: its pod
// is made anew elsewhere. The DaemonJob has it, too, and waits for the node. The ReplicaJob needs none. No Job is made anew.
func TestNodeDrained(t *testing.T) {
	s := newFault(t)
	flow := s.survivor("flow")
	require.NoError(t, cluster.Create(t.Context(), flow))
	s.eventually("the flow runs", func() error { return s.runs("flow-work") })
	node := s.pods()[0].Spec.NodeName

	require.NoError(t, cluster.Create(t.Context(), &v1alpha1.DaemonJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "all"},
		Spec:       v1alpha1.DaemonJobSpec{Template: s.gated(), PodFailurePolicy: flow.Spec.Flows[0].JobTemplate.PodFailurePolicy},
	}))
	require.NoError(t, cluster.Create(t.Context(), s.replicaJobOn(node)))
	for _, n := range nodes {
		s.eventually("the DaemonJob runs", func() error { return s.runs("all-" + n) })
	}
	s.await("Ready", "pod/replicas-worker-0")
	t.Cleanup(func() {
		_, err := kubectl("uncordon", node)
		require.NoError(t, err)
	})
	_, err := kubectl("drain", node, "--ignore-daemonsets", "--force", "--delete-emptydir-data", "--timeout=300s", "--grace-period=1")
	require.NoError(t, err)
	s.open()

	s.await("Succeeded", "jobflow/flow")
	s.await("Succeeded", "replicajob/replicas")
	for _, pod := range s.pods() {
		if pod.Labels[batchv1.JobNameLabel] != "all-"+node {
			assert.NotEqual(t, node, pod.Spec.NodeName, pod.Name)
		}
	}
	all := &v1alpha1.DaemonJob{}
	require.NoError(t, cluster.Get(t.Context(), client.ObjectKey{Namespace: s.name, Name: "all"}, all))
	assert.Nil(t, all.Status.CompletionTime, "it waits for its node")

	_, err = kubectl("uncordon", node)
	require.NoError(t, err)
	s.await("Succeeded", "daemonjob/all")
	s.requireOnce(2 + len(nodes))
	s.requireOrder("flow-work", "flow-report")
}

// replicaJobOn is a ReplicaJob of one pod, which prefers a node.
func (s *space) replicaJobOn(node string) *v1alpha1.ReplicaJob {
	template := s.gated()
	template.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 100, Preference: corev1.NodeSelectorTerm{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
		}}},
	}}
	return &v1alpha1.ReplicaJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "replicas"},
		Spec:       v1alpha1.ReplicaJobSpec{ReplicaSpecs: map[v1alpha1.ReplicaType]v1alpha1.ReplicaSpec{"Worker": {Template: template}}},
	}
}
