package admission

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// The brokers of a MiniCluster that runs are configured for the size that it started with, so its tasks must fit that one.
func TestTheSizeThatAMiniClusterStartedWith(t *testing.T) {
	started := metav1.Unix(1, 0)
	clusterOf := func(size, tasks int32, status v1alpha1.MiniClusterStatus) *v1alpha1.MiniCluster {
		return &v1alpha1.MiniCluster{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "u", Generation: 2},
			Spec: v1alpha1.MiniClusterSpec{
				Size: size, Tasks: &tasks, MaxSize: 8, DeadlineSeconds: ptr.To[int64](60),
				Containers: []v1alpha1.MiniClusterContainer{{Image: "i", Command: "c", Resources: corev1.ResourceRequirements{
					Limits: corev1.ResourceList{"cpu": resource.MustParse("2")},
				}}},
			},
			Status: status,
		}
	}
	running := v1alpha1.MiniClusterStatus{StartTime: &started, StartSize: 4, MaximumSize: 8}
	atRest := v1alpha1.MiniClusterStatus{StartSize: 4, MaximumSize: 8}
	suspended := clusterOf(8, 16, running)
	suspended.Spec.Suspend = true
	ignored := clusterOf(2, 8, running)
	ignored.Spec.Interactive = true
	for name, tt := range map[string]struct {
		cluster *v1alpha1.MiniCluster
		refused string
		warns   bool
	}{
		"scaled down":                        {cluster: clusterOf(2, 8, running)},
		"scaled up, with as many tasks":      {cluster: clusterOf(8, 8, running)},
		"scaled up, with more tasks":         {cluster: clusterOf(8, 16, running), refused: "must be at most 8"},
		"more tasks, to be suspended":        {cluster: suspended},
		"more tasks, and it doesn't run":     {cluster: clusterOf(8, 16, atRest)},
		"too many tasks, and it doesn't run": {cluster: clusterOf(2, 8, atRest), refused: "must be at most 4"},
		"fields that have no effect":         {cluster: ignored, warns: true},
	} {
		t.Run(name, func(t *testing.T) {
			warnings, err := New("MiniCluster", MiniClusterPlan).ValidateUpdate(t.Context(), clusterOf(4, 8, tt.cluster.Status), tt.cluster)
			if tt.refused != "" {
				require.ErrorContains(t, err, tt.refused)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.warns, len(warnings) > 0)
		})
	}
}
