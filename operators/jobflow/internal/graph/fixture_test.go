package graph

import (
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// makeFlow returns the JobFlow demo of these nodes.
func makeFlow(nodes ...v1alpha1.Flow) *v1alpha1.JobFlow {
	return &v1alpha1.JobFlow{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo", UID: "demo-uid", Generation: 1},
		Spec:       v1alpha1.JobFlowSpec{Flows: nodes},
	}
}

// node returns a node with an inline template.
func node(name string, dependencies ...string) v1alpha1.Flow {
	return v1alpha1.Flow{Name: name, Dependencies: dependencies, JobTemplate: &batchv1.JobSpec{Template: corev1.PodTemplateSpec{
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "busybox:1.28"}}},
	}}}
}

// nodeRef returns a node with a reference to a template.
func nodeRef(name, template string, dependencies ...string) v1alpha1.Flow {
	return v1alpha1.Flow{Name: name, Dependencies: dependencies, JobTemplateRef: template}
}

// seedGraph has the edges of the seed's example.
func seedGraph() *v1alpha1.JobFlow {
	return makeFlow(node("job1"), node("job2", "job1"), node("job3", "job1", "job2"), node("job4"), node("job5", "job4", "job2"))
}

// volumes returns volumes of these names.
func volumes(names ...string) []corev1.Volume {
	var all []corev1.Volume
	for _, name := range names {
		all = append(all, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	}
	return all
}

// mounts returns mounts of volumes of these names.
func mounts(names ...string) []corev1.VolumeMount {
	var all []corev1.VolumeMount
	for _, name := range names {
		all = append(all, corev1.VolumeMount{Name: name, MountPath: "/" + name})
	}
	return all
}

// flowWhen returns a flow of n nodes after the first, each with an expression.
func flowWhen(n int, text func(i int) string) *v1alpha1.JobFlow {
	flow := makeFlow(node("first"))
	for i := range n {
		next := node(fmt.Sprint("n", i), "first")
		next.When = text(i)
		flow.Spec.Flows = append(flow.Spec.Flows, next)
	}
	return flow
}

// flowOf returns a flow of n nodes without dependencies.
func flowOf(n int) *v1alpha1.JobFlow {
	flow := makeFlow()
	for i := range n {
		flow.Spec.Flows = append(flow.Spec.Flows, node("n"+strconv.Itoa(i)))
	}
	return flow
}
