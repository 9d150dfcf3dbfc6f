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

// A FluxJob is judged with the MiniCluster that would be made of it, at a size that it may have.
func TestTheClusterOfAFluxJob(t *testing.T) {
	jobOf := func(change func(*v1alpha1.FluxJobSpec, *v1alpha1.MiniClusterSpec)) *v1alpha1.FluxJob {
		job := &v1alpha1.FluxJob{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "j", UID: "u", Generation: 1}}
		job.Spec.MiniCluster = &v1alpha1.MiniClusterSpec{Size: 1, Containers: []v1alpha1.MiniClusterContainer{{Image: "i", Command: "c"}}}
		change(&job.Spec, job.Spec.MiniCluster)
		return job
	}
	oneCPU := &corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("1")}}
	v := New("FluxJob", FluxJobPlan)
	for name, tt := range map[string]struct {
		change  func(*v1alpha1.FluxJobSpec, *v1alpha1.MiniClusterSpec)
		refused string
	}{
		"sound":             {func(*v1alpha1.FluxJobSpec, *v1alpha1.MiniClusterSpec) {}, ""},
		"an image":          {func(j *v1alpha1.FluxJobSpec, _ *v1alpha1.MiniClusterSpec) { j.Image, j.MiniCluster = "i", nil }, ""},
		"a size of its own": {func(j *v1alpha1.FluxJobSpec, c *v1alpha1.MiniClusterSpec) { j.Size, c.MinSize = ptr.To[int32](4), 3 }, ""},
		"the queue's size":  {func(_ *v1alpha1.FluxJobSpec, c *v1alpha1.MiniClusterSpec) { c.MinSize, c.MaxSize = 3, 4 }, ""},
		"a bad label": {func(_ *v1alpha1.FluxJobSpec, c *v1alpha1.MiniClusterSpec) {
			c.JobLabels = map[string]string{"a b": "c"}
		}, "the MiniCluster is refused: spec.jobLabels"},
		"more tasks than cores": {func(j *v1alpha1.FluxJobSpec, _ *v1alpha1.MiniClusterSpec) {
			j.Image, j.MiniCluster, j.Size, j.Tasks, j.Resources = "i", nil, ptr.To[int32](2), ptr.To[int32](3), oneCPU
			j.Command = "c"
		}, "the MiniCluster is refused: spec.tasks: Invalid value: 3: must be at most 2"},
		"as many tasks as the queue's size may have cores": {func(j *v1alpha1.FluxJobSpec, c *v1alpha1.MiniClusterSpec) {
			c.Tasks, c.Containers[0].Resources = ptr.To[int32](3), *oneCPU
		}, ""},
		"as many tasks as a larger size than the smallest may have cores": {func(j *v1alpha1.FluxJobSpec, c *v1alpha1.MiniClusterSpec) {
			c.MinSize, c.Tasks, c.Containers[0].Resources = 2, ptr.To[int32](3), *oneCPU
		}, ""},
		"its own and another": {func(j *v1alpha1.FluxJobSpec, _ *v1alpha1.MiniClusterSpec) { j.Image = "i" }, "exactly one of image and miniCluster must be set"},
	} {
		job := jobOf(tt.change)
		before := job.DeepCopy()
		_, err := v.ValidateCreate(t.Context(), job)
		if tt.refused == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, tt.refused, name)
		}
		assert.Equal(t, before, job, name)
	}
}
