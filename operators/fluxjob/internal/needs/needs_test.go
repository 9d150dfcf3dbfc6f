package needs

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func list(pairs ...string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		l[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

func requests(pairs ...string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: list(pairs...)}
}

func job(spec v1alpha1.FluxJobSpec) *v1alpha1.FluxJob { return &v1alpha1.FluxJob{Spec: spec} }

func template(spec v1alpha1.MiniClusterSpec) *v1alpha1.FluxJob {
	return job(v1alpha1.FluxJobSpec{MiniCluster: &spec})
}

func TestOf(t *testing.T) {
	setup := &v1alpha1.FluxSetup{Spec: v1alpha1.FluxSetupSpec{MiniCluster: v1alpha1.FluxSetupMiniCluster{Size: ptr.To[int32](3)}}}
	limited := &corev1.ResourceRequirements{Requests: list("cpu", "250m"), Limits: list("cpu", "1", "memory", "1Gi", "nvidia.com/gpu", "2")}
	one := []v1alpha1.MiniClusterContainer{{Image: "i", Resources: requests("cpu", "1")}}
	tests := map[string]struct {
		job  *v1alpha1.FluxJob
		want Share
	}{
		"the setup's size": {job(v1alpha1.FluxJobSpec{Image: "i"}), Share{Size: 3, Pods: 3}},
		"its own size, requests, and limits where there are none": {
			job(v1alpha1.FluxJobSpec{Image: "i", Size: ptr.To[int32](4), Resources: limited}),
			Share{Size: 4, Pods: 4, Resources: list("cpu", "1", "memory", "4Gi", "nvidia.com/gpu", "8")},
		},
		"the template's size": {template(v1alpha1.MiniClusterSpec{Size: 2, Containers: one}), Share{Size: 2, Pods: 2, Resources: list("cpu", "2")}},
		"the template's default size": {
			template(v1alpha1.MiniClusterSpec{Size: 1, Containers: one}), Share{Size: 3, Pods: 3, Resources: list("cpu", "3")},
		},
		"a default size within its bound": {
			template(v1alpha1.MiniClusterSpec{Size: 1, MaxSize: 2, Containers: one}), Share{Size: 2, Pods: 2, Resources: list("cpu", "2")},
		},
		"the template's default size, under its quorum": {
			template(v1alpha1.MiniClusterSpec{Size: 1, MinSize: 4, Containers: one}), Share{Size: 4, Pods: 4, Resources: list("cpu", "4")},
		},
		"the template's default size, over its quorum": {
			template(v1alpha1.MiniClusterSpec{Size: 1, MinSize: 2, Containers: one}), Share{Size: 3, Pods: 3, Resources: list("cpu", "3")},
		},
		"what it may grow to": {
			template(v1alpha1.MiniClusterSpec{Size: 2, MaxSize: 5, Containers: one}), Share{Size: 2, Pods: 5, Resources: list("cpu", "5")},
		},
		"sidecars, services, and the init container before them": {
			template(v1alpha1.MiniClusterSpec{
				Size: 2,
				Containers: []v1alpha1.MiniClusterContainer{
					{Image: "i", RunFlux: true, Resources: requests("cpu", "1", "memory", "1Gi")},
					{Image: "s", Name: "s", Resources: requests("cpu", "500m", "memory", "1Gi")},
				},
				Services: []v1alpha1.MiniClusterContainer{{Image: "db", Name: "db", Resources: requests("cpu", "100m")}},
				Flux:     v1alpha1.MiniClusterFlux{Container: v1alpha1.MiniClusterFluxContainer{Resources: requests("cpu", "2", "memory", "1Mi")}},
			}),
			Share{Size: 2, Pods: 3, Resources: list("cpu", "4100m", "memory", "4Gi")},
		},
		"no init container": {
			template(v1alpha1.MiniClusterSpec{Size: 2, Containers: one, Flux: v1alpha1.MiniClusterFlux{
				Disable: true, Container: v1alpha1.MiniClusterFluxContainer{Resources: requests("cpu", "2")},
			}}),
			Share{Size: 2, Pods: 2, Resources: list("cpu", "2")},
		},
		"what the pod as a whole requests": {
			template(v1alpha1.MiniClusterSpec{Size: 2, Containers: one, Pod: v1alpha1.MiniClusterPod{Resources: list("cpu", "3")}}),
			Share{Size: 2, Pods: 2, Resources: list("cpu", "6")},
		},
		"what the containers request beyond the pod": {
			template(v1alpha1.MiniClusterSpec{Size: 2, Containers: one, Pod: v1alpha1.MiniClusterPod{Resources: list("cpu", "1m", "memory", "1Gi")}}),
			Share{Size: 2, Pods: 2, Resources: list("cpu", "2", "memory", "2Gi")},
		},
		"what the init container requests beyond the pod": {
			template(v1alpha1.MiniClusterSpec{
				Size: 2, Containers: one, Pod: v1alpha1.MiniClusterPod{Resources: list("cpu", "1500m")},
				Flux: v1alpha1.MiniClusterFlux{Container: v1alpha1.MiniClusterFluxContainer{Resources: requests("cpu", "2")}},
			}),
			Share{Size: 2, Pods: 2, Resources: list("cpu", "4")},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := Of(tt.job, setup)
			assert.Equal(t, tt.want.Size, got.Size)
			assert.Equal(t, tt.want.Pods, got.Pods)
			assert.Len(t, got.Resources, len(tt.want.Resources))
			for name, want := range tt.want.Resources {
				assert.Zero(t, want.Cmp(got.Resources[name]), "%s: %s", name, new(got.Resources[name]).String())
			}
			assert.Equal(t, got, Of(job(Reduced(tt.job)), setup), "a reduced job needs the same")
		})
	}
	assert.Equal(t, int32(1), Size(job(v1alpha1.FluxJobSpec{Image: "i"}), nil))
	assert.Equal(t, int32(2), Size(template(v1alpha1.MiniClusterSpec{Size: 1, MinSize: 2}), nil))
}

// A program that holds many jobs holds little of each, whatever their users have written.
func TestReducedJobsAreSmall(t *testing.T) {
	many, tolerations := corev1.ResourceList{}, make([]corev1.Toleration, 1000)
	for i := range 1000 {
		many[corev1.ResourceName(fmt.Sprintf("example.com/r%d", i))] = resource.MustParse("1")
	}
	container := v1alpha1.MiniClusterContainer{Resources: corev1.ResourceRequirements{Limits: many}}
	for name, spec := range map[string]v1alpha1.FluxJobSpec{
		"a command":      {Image: "i", Command: strings.Repeat("x", 10_000)},
		"a long name":    {Image: "i", Resources: new(requests(strings.Repeat("x", 10_000), "1"))},
		"resources":      {Image: "i", Resources: &corev1.ResourceRequirements{Requests: many}},
		"of a container": {MiniCluster: &v1alpha1.MiniClusterSpec{Containers: []v1alpha1.MiniClusterContainer{container}}},
		"of a pod":       {MiniCluster: &v1alpha1.MiniClusterSpec{Pod: v1alpha1.MiniClusterPod{Resources: many}}},
		"of no interest": {MiniCluster: &v1alpha1.MiniClusterSpec{Pod: v1alpha1.MiniClusterPod{Tolerations: tolerations}}},
	} {
		text, err := json.Marshal(Reduced(job(spec)))
		assert.NoError(t, err)
		assert.Less(t, len(text), 1000, name)
	}
}

func TestAmountsDoNotOverflow(t *testing.T) {
	huge := job(v1alpha1.FluxJobSpec{Image: "i", Resources: &corev1.ResourceRequirements{Requests: list("cpu", "9E", "memory", "9E", "a/b", "-3")}})
	assert.Equal(t, int64(most), Amount(huge, 10000, "cpu"))
	assert.Equal(t, int64(most), Amount(huge, 10000, "memory"))
	assert.Zero(t, Amount(huge, 10000, "a/b"))
	q := Quantity("memory", 1<<30)
	assert.Equal(t, "1Gi", q.String())
	q = Quantity("cpu", 1500)
	assert.Equal(t, "1500m", q.String())
}

func TestPlaceInLine(t *testing.T) {
	setup := &v1alpha1.FluxSetup{Spec: v1alpha1.FluxSetupSpec{Priority: 7}}
	j := job(v1alpha1.FluxJobSpec{})
	created, later := metav1.NewTime(time.Unix(100, 0)), metav1.NewTime(time.Unix(200, 0))
	j.CreationTimestamp = created
	assert.Equal(t, v1alpha1.DefaultFluxQueue, Queue(j))
	assert.Equal(t, int32(7), PrioritiesOf(setup).Of(j, nil))
	assert.Equal(t, created.Time, Since(j))
	assert.True(t, Wants(j))

	j.Spec.Queue, j.Spec.Priority, j.Status.RequeueTime = "q", ptr.To[int32](-1), &later
	assert.Equal(t, "q", Queue(j))
	assert.Equal(t, int32(-1), PrioritiesOf(setup).Of(j, nil))
	assert.Equal(t, later.Time, Since(j))

	j.Labels = map[string]string{v1alpha1.LabelKueueQueue: "k"}
	assert.Empty(t, Queue(j))
	assert.Equal(t, "k", Kueue(j))

	j.Spec.Suspend = true
	assert.False(t, Wants(j))
}

func TestEitherQueue(t *testing.T) {
	j := job(v1alpha1.FluxJobSpec{Image: "i", Queue: "q"})
	j.Labels = map[string]string{v1alpha1.LabelKueueQueue: "k"}
	assert.EqualError(t, Problems(j).ToAggregate(),
		"spec.queue: Forbidden: the label kueue.x-k8s.io/queue-name makes Kueue the queue: take the label off, or leave this out")
}

func TestProblems(t *testing.T) {
	resources := new(requests("cpu", "-1"))
	many := func(first, n int) corev1.ResourceList {
		l := corev1.ResourceList{}
		for i := range n {
			l[corev1.ResourceName(fmt.Sprintf("example.com/r%d", first+i))] = resource.MustParse("1")
		}
		return l
	}
	spread := func(inServices int) *v1alpha1.MiniClusterSpec { // 20 in the containers, 10 in the pod
		return &v1alpha1.MiniClusterSpec{
			Containers: []v1alpha1.MiniClusterContainer{{Image: "i", Resources: corev1.ResourceRequirements{Requests: many(0, 20), Limits: many(0, 20)}}},
			Services:   []v1alpha1.MiniClusterContainer{{Image: "i", Resources: corev1.ResourceRequirements{Limits: many(30, inServices)}}},
			Pod:        v1alpha1.MiniClusterPod{Resources: many(20, 10)},
		}
	}
	one := []v1alpha1.MiniClusterContainer{{Image: "i"}, {Image: "i", Resources: requests("a/b", "-2", "cpu", "-1")}}
	tests := map[string]struct {
		spec v1alpha1.FluxJobSpec
		want string
	}{
		"sound":   {v1alpha1.FluxJobSpec{Image: "i"}, ""},
		"neither": {v1alpha1.FluxJobSpec{}, "spec.image: Required value: exactly one of image and miniCluster must be set"},
		"both": {v1alpha1.FluxJobSpec{Image: "i", MiniCluster: &v1alpha1.MiniClusterSpec{}},
			"spec.image: Forbidden: exactly one of image and miniCluster must be set"},
		"negative": {v1alpha1.FluxJobSpec{Image: "i", Resources: resources},
			`spec.resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0`},
		"negative in the template": {v1alpha1.FluxJobSpec{MiniCluster: &v1alpha1.MiniClusterSpec{Containers: one}},
			`[spec.miniCluster.containers[1].resources.requests[a/b]: Invalid value: "-2": must be greater than or equal to 0, ` +
				`spec.miniCluster.containers[1].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0]`},
		"negative for the pod": {v1alpha1.FluxJobSpec{MiniCluster: &v1alpha1.MiniClusterSpec{Pod: v1alpha1.MiniClusterPod{Resources: list("cpu", "-1")}}},
			`spec.miniCluster.pod.resources[cpu]: Invalid value: "-1": must be greater than or equal to 0`},
		"no name of a resource": {v1alpha1.FluxJobSpec{Image: "i", Resources: new(requests("a b", "1", "cpu", "1"))},
			`spec.resources.requests: Invalid value: "a b": ` + strings.Join(validation.IsQualifiedName("a b"), "; ")},
		"no name of a resource for the pod": {
			v1alpha1.FluxJobSpec{MiniCluster: &v1alpha1.MiniClusterSpec{Pod: v1alpha1.MiniClusterPod{Resources: list("a/b/c", "1")}}},
			`spec.miniCluster.pod.resources: Invalid value: "a/b/c": ` + strings.Join(validation.IsQualifiedName("a/b/c"), "; ")},
		"two queues": {v1alpha1.FluxJobSpec{MiniCluster: &v1alpha1.MiniClusterSpec{JobLabels: map[string]string{v1alpha1.LabelKueueQueue: "k"}}},
			"spec.miniCluster.jobLabels[kueue.x-k8s.io/queue-name]: Forbidden: the job would wait for two queues: " +
				"give the label to the FluxJob itself, and leave spec.queue out"},
		"over maxSize": {v1alpha1.FluxJobSpec{Size: ptr.To[int32](5), MiniCluster: &v1alpha1.MiniClusterSpec{MaxSize: 4}},
			"spec.size: Invalid value: 5: must be at most miniCluster.maxSize, 4"},
		"under minSize": {v1alpha1.FluxJobSpec{Size: ptr.To[int32](1), MiniCluster: &v1alpha1.MiniClusterSpec{Size: 2, MinSize: 2}},
			"spec.size: Invalid value: 1: must be at least miniCluster.minSize, 2"},
		"the most resources": {v1alpha1.FluxJobSpec{Image: "i", Resources: &corev1.ResourceRequirements{Requests: many(0, 32), Limits: many(0, 32)}}, ""},
		"too many resources": {v1alpha1.FluxJobSpec{Image: "i", Resources: &corev1.ResourceRequirements{Requests: many(0, 30), Limits: many(20, 13)}},
			"spec.resources: Invalid value: 33: must name at most 32 different resources"},
		"the most resources in a template": {v1alpha1.FluxJobSpec{MiniCluster: spread(2)}, ""},
		"too many resources in a template": {v1alpha1.FluxJobSpec{MiniCluster: spread(3)},
			"spec.miniCluster: Invalid value: 33: must name at most 32 different resources, in its containers, services and pod together"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			errs := Problems(job(tt.spec))
			if tt.want == "" {
				assert.Empty(t, errs)
				return
			}
			assert.EqualError(t, errs.ToAggregate(), tt.want)
		})
	}
}
