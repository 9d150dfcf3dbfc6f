package jobflow

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/operators/internal/podtemplate"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// rendered returns the Job of a flow's first node.
func rendered(t *testing.T, flow *v1alpha1.JobFlow, template *batchv1.JobSpec) *batchv1.Job {
	job, err := newPass(flow, buildertest.NewView(epoch)).render(0, template, nil)
	require.NoError(t, err)
	return job
}

func TestRender(t *testing.T) {
	n := node("build")
	n.JobTemplate.Template.Labels = map[string]string{"key1": "own", LabelFlow: "forged"}
	n.JobTemplate.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	n.JobTemplate.Completions = ptr.To[int32](3)
	n.ShareVolumeMounts = mounts("work")
	flow := makeFlow(n)
	flow.Spec.ShareVolumes = volumes("work")
	flow.Spec.GlobalParams = v1alpha1.GlobalParams{
		NodeName:    "minikube",
		Env:         []corev1.EnvVar{{Name: "FOO", Value: "bar"}},
		Labels:      map[string]string{"key1": "value1", "key2": "value2", LabelJobFlow: "forged"},
		Annotations: map[string]string{"key1": "value1"},
	}
	before := flow.DeepCopy()

	want := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default",
			Name:      "demo-build",
			Labels: map[string]string{
				"key1": "value1", "key2": "value2", LabelJobFlow: "demo", LabelFlow: "build", "app.kubernetes.io/managed-by": "armature",
			},
			Annotations: map[string]string{"key1": "value1", AnnotationStartedAs: record.Digest(&n)},
		},
		Spec: batchv1.JobSpec{
			BackoffLimit: ptr.To[int32](0),
			Completions:  ptr.To[int32](3),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{
					Labels: map[string]string{
						"key1": "own", "key2": "value2", LabelJobFlow: "demo", LabelFlow: "build", "app.kubernetes.io/managed-by": "armature",
					},
					Annotations: map[string]string{"key1": "value1"},
				},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					Volumes:       volumes("work"),
					Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
						RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
							MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{"minikube"}}},
						}}},
					}},
					Containers: []corev1.Container{{
						Name: "main", Image: "busybox:1.28", Command: []string{"true"},
						Env:          []corev1.EnvVar{{Name: "FOO", Value: "bar"}},
						VolumeMounts: mounts("work"),
					}},
				},
			},
		},
	}
	job := rendered(t, flow, flow.Spec.Flows[0].JobTemplate)
	assert.Equal(t, want, job)
	assert.Equal(t, before, flow)
	job.Labels["key2"], job.Spec.Template.Labels["key2"] = "changed", "changed"
	assert.Equal(t, before, flow, "nothing is shared")
}

func TestRenderBackoffLimit(t *testing.T) {
	tests := map[string]struct {
		spec batchv1.JobSpec
		want *int32
	}{
		"none by default":             {batchv1.JobSpec{}, ptr.To[int32](0)},
		"the template's":              {batchv1.JobSpec{BackoffLimit: ptr.To[int32](4)}, ptr.To[int32](4)},
		"left to the limit per index": {batchv1.JobSpec{BackoffLimitPerIndex: ptr.To[int32](1)}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			n := node("a")
			assert.Equal(t, tt.want, rendered(t, makeFlow(n), &tt.spec).Spec.BackoffLimit)
		})
	}
}

func TestRenderFromATemplate(t *testing.T) {
	n := nodeRef("a", "t")
	template := jobTemplate("t")
	job := rendered(t, makeFlow(n), &template.Spec.JobTemplate)
	assert.Equal(t, map[string]string{AnnotationJobTemplate: "t", AnnotationStartedAs: record.Digest(&n)}, job.Annotations)
	assert.Equal(t, "busybox:1.28", job.Spec.Template.Spec.Containers[0].Image)
	assert.Equal(t, jobTemplate("t"), template)
}

func TestRenderOfALongName(t *testing.T) {
	flow := makeFlow(node("a"))
	flow.Name = strings.Repeat("long.", 30) + "end"
	job := rendered(t, flow, flow.Spec.Flows[0].JobTemplate)
	assert.Len(t, job.Labels[LabelJobFlow], 63)
	assert.Equal(t, job.Labels[LabelJobFlow], job.Spec.Template.Labels[LabelJobFlow])
	assert.LessOrEqual(t, len(job.Name), 63)
	assert.Equal(t, []string{flow.Name}, podtemplate.OwnerIn(LabelJobFlow)(podOf(job)), "the pod names the flow all the same")

	flow.Name = "short"
	job = rendered(t, flow, flow.Spec.Flows[0].JobTemplate)
	assert.Empty(t, job.Spec.Template.Annotations)
	assert.Equal(t, []string{"short"}, podtemplate.OwnerIn(LabelJobFlow)(podOf(job)))
	assert.Empty(t, podtemplate.OwnerIn(LabelJobFlow)(&corev1.Pod{}))
}

func TestRenderKeepsTheTTLToItself(t *testing.T) {
	n := node("a")
	n.JobTemplate.TTLSecondsAfterFinished = ptr.To[int32](60)
	job := rendered(t, makeFlow(n), n.JobTemplate)
	assert.Nil(t, job.Spec.TTLSecondsAfterFinished)
	assert.Equal(t, "60", job.Annotations[AnnotationTTL])

	n.JobTemplate.TTLSecondsAfterFinished = ptr.To[int32](-1)
	job = rendered(t, makeFlow(n), n.JobTemplate)
	assert.Equal(t, ptr.To[int32](-1), job.Spec.TTLSecondsAfterFinished, "for the API server to refuse")
}

// podOf returns a pod that a Job of a plan has, running.
func podOf(job *batchv1.Job) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: job.Namespace, Name: job.Name + "-x", Labels: job.Spec.Template.Labels, Annotations: job.Spec.Template.Annotations,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: job.Name, UID: job.UID, Controller: new(true)}},
	}}
	pod.Status.Phase = corev1.PodRunning
	return pod
}
