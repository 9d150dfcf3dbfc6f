package devcluster_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/devcluster"
)

// Without the node lifecycle controller, only the node itself can remove the taint that the API server adds to every new node.
func TestLocalNodesStartWithoutControllers(t *testing.T) {
	client := clientOf(t, devcluster.Start(t,
		devcluster.WithoutControllers(), devcluster.WithNodes("a"), devcluster.WithTimeout(8*time.Minute)))
	node, err := client.CoreV1().Nodes().Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	require.Empty(t, node.Spec.Taints)
	no := false
	_, err = client.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "true"},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			// No controller publishes the authority of the cluster, which the pod would mount beside its token.
			AutomountServiceAccountToken: &no,
			Containers:                   []corev1.Container{{Name: "true", Image: "true", Command: []string{"true"}}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		pod, err := client.CoreV1().Pods("default").Get(t.Context(), "true", metav1.GetOptions{})
		return err == nil && pod.Status.Phase == corev1.PodSucceeded
	}, patience, pollEvery, "the scheduler assigns the pod to the node, which runs it")
}
