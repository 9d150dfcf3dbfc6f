package daemonjob

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/podtemplate"
)

func TestTheJobOfANode(t *testing.T) {
	job := makeJob(func(s *spec) {
		s.GlobalParams = v1alpha1.GlobalParams{
			Env:         []corev1.EnvVar{{Name: "FOO", Value: "bar"}},
			Labels:      map[string]string{"key1": "value1", "key2": "value2", LabelDaemonJob: "forged"},
			Annotations: map[string]string{"key1": "value1", AnnotationNode: "forged"},
		}
		s.Template.Labels = map[string]string{"key1": "own", LabelNode: "forged"}
		s.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
		s.Completions = ptr.To[int32](2)
		s.Retry = 3
	})
	before := job.DeepCopy()
	want := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default",
			Name:      "demo-n1",
			Labels: map[string]string{
				"key1": "value1", "key2": "value2",
				LabelDaemonJob: "demo", LabelNode: "n1", "app.kubernetes.io/managed-by": "armature",
			},
			Annotations: map[string]string{"key1": "value1", AnnotationNode: "n1", AnnotationNodeUID: "n1-uid", AnnotationRetry: "3"},
		},
		Spec: batchv1.JobSpec{
			BackoffLimit: ptr.To[int32](0),
			Completions:  ptr.To[int32](2),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{
					Labels:      map[string]string{"key1": "own", "key2": "value2", LabelDaemonJob: "demo", LabelNode: "n1", "app.kubernetes.io/managed-by": "armature"},
					Annotations: map[string]string{"key1": "value1", AnnotationNode: "forged"},
				},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					Affinity:      requireNode(corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{has("metadata.name", "n1")}}),
					Containers: []corev1.Container{{
						Name: "main", Image: "busybox:1.28", Command: []string{"true"},
						Env: []corev1.EnvVar{{Name: "FOO", Value: "bar"}},
					}},
				},
			},
		},
	}
	rendered := render(job)
	assert.Equal(t, want, onNode(rendered, job, makeNode("n1")))
	assert.Equal(t, "demo-n2", onNode(rendered, job, makeNode("n2")).Name)
	assert.Equal(t, want, onNode(rendered, job, makeNode("n1")), "nodes share nothing")
	rendered.Spec.Template.Spec.Containers[0].Env[0].Value = "changed"
	rendered.Labels["key2"], rendered.Spec.Template.Labels["key2"] = "changed", "changed"
	assert.Equal(t, before, job, "nor with the DaemonJob")
}

func TestBackoffLimit(t *testing.T) {
	assert.Equal(t, ptr.To[int32](0), render(makeJob()).Spec.BackoffLimit)
	assert.Equal(t, ptr.To[int32](4), render(makeJob(func(s *spec) { s.BackoffLimit = ptr.To[int32](4) })).Spec.BackoffLimit)
	assert.Nil(t, render(makeJob(func(s *spec) { s.BackoffLimitPerIndex = ptr.To[int32](1) })).Spec.BackoffLimit)
}

func TestTolerationsOfADaemonSet(t *testing.T) {
	assert.Empty(t, render(makeJob()).Spec.Template.Spec.Tolerations)
	assert.Len(t, render(makeJob(func(s *spec) { s.TolerateLikeDaemonSet = true })).Spec.Template.Spec.Tolerations, 6)
}

// TestEveryFieldOfAJob notices when Kubernetes adds a field to a Job's spec: it must be honoured or refused.
func TestEveryFieldOfAJob(t *testing.T) {
	ofTheWhole := map[string]bool{
		"parallelism": true, "suspend": true, "activeDeadlineSeconds": true, "ttlSecondsAfterFinished": true, "managedBy": true,
	}
	refused := map[string]bool{"selector": true, "manualSelector": true}
	ours := map[string]reflect.StructField{}
	for field := range reflect.TypeFor[v1alpha1.DaemonJobSpec]().Fields() {
		ours[jsonName(field)] = field
	}
	for field := range reflect.TypeFor[batchv1.JobSpec]().Fields() {
		name := jsonName(field)
		own, known := ours[name]
		if !assert.True(t, known, "a DaemonJob has no %s", name) || ofTheWhole[name] || refused[name] {
			continue
		}
		assert.Equal(t, field.Type, own.Type, name)
		spec := &v1alpha1.DaemonJobSpec{}
		value := reflect.ValueOf(spec).Elem().FieldByName(own.Name)
		if value.Kind() == reflect.Pointer {
			value.Set(reflect.New(value.Type().Elem()))
		} else {
			spec.Template.Name = "set"
		}
		rendered := reflect.ValueOf(jobSpec(spec)).FieldByName(field.Name)
		assert.Equal(t, value.Interface(), rendered.Interface(), "each node's Job has %s", name)
	}
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

func TestJobName(t *testing.T) {
	assert.Equal(t, "daemonjob-example-vm-0-12-centos", JobName("daemonjob-example", "vm-0-12-centos"))
	assert.Equal(t, "demo-a-b", JobName("demo", "a-b"))
	assert.Equal(t, "demo-a-b-42e799b396", JobName("demo", "a.b"), "fixed: it would run twice under another name")
	assert.Len(t, JobName("demo", strings.Repeat("n", 63)), 52)
}

func TestNodesNeverClash(t *testing.T) {
	part := rapid.StringMatching(`[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?`)
	name := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 1, 5).Draw(t, "parts"), rapid.SampledFrom([]string{"-", "."}).Draw(t, "join"))
	})
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.SliceOfNDistinct(name, 2, 20, rapid.ID[string]).Draw(t, "nodes")
		if rapid.Bool().Draw(t, "with one that looks like another's Job") {
			nodes = append(nodes, strings.TrimPrefix(JobName("demo", nodes[0]+".x"), "demo-"), nodes[0]+".x")
		}
		known := map[string]string{}
		for _, node := range nodes {
			job := JobName("demo", node)
			assert.Contains(t, []string{"", node}, known[job], "%s and %s", node, known[job])
			known[job] = node
		}
	})
}

func TestLongNames(t *testing.T) {
	job := makeJob()
	job.Name = strings.Repeat("long.", 30) + "end"
	own := onNode(render(job), job, makeNode(strings.Repeat("node.", 30)+"x"))
	for _, label := range []string{LabelDaemonJob, LabelNode} {
		assert.Len(t, own.Labels[label], 63)
		assert.Equal(t, own.Labels[label], own.Spec.Template.Labels[label])
	}
	assert.Equal(t, strings.Repeat("node.", 30)+"x", own.Annotations[AnnotationNode])
	pod := &corev1.Pod{ObjectMeta: own.Spec.Template.ObjectMeta}
	assert.Equal(t, []string{job.Name}, podtemplate.OwnerIn(LabelDaemonJob)(pod), "the pod names the job all the same")
	assert.Equal(t, []string{"demo"}, podtemplate.OwnerIn(LabelDaemonJob)(&corev1.Pod{ObjectMeta: render(makeJob()).Spec.Template.ObjectMeta}))
	assert.Empty(t, podtemplate.OwnerIn(LabelDaemonJob)(&corev1.Pod{}))
}
