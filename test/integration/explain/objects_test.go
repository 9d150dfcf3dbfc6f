package explain

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// onLocal is the node selector for nodes that run processes, onFake for those that only pretend.
var (
	onLocal = map[string]string{"devcluster.armature.dev/local": "true"}
	onFake  = map[string]string{"kubernetes.io/hostname": "fake-2"}
)

// pod returns a template that runs a script on a node that does so, changed as wanted.
func pod(script string, change ...func(*corev1.PodTemplateSpec)) corev1.PodTemplateSpec {
	t := corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		NodeSelector: onLocal,
		Containers:   []corev1.Container{{Name: "main", Image: "busybox:1.28", Command: []string{"sh", "-c", script}}},
	}}
	for _, f := range change {
		f(&t)
	}
	return t
}

// flow returns a JobFlow of one node, called a.
func flow(name string, t corev1.PodTemplateSpec, change ...func(*v1alpha1.JobFlow)) *v1alpha1.JobFlow {
	f := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{node("a", t)}}}
	for _, c := range change {
		c(f)
	}
	return f
}

func node(name string, t corev1.PodTemplateSpec, dependencies ...string) v1alpha1.Flow {
	return v1alpha1.Flow{Name: name, Dependencies: dependencies, JobTemplate: &batchv1.JobSpec{Template: t}}
}

// deployment returns a Deployment of one pod.
func deployment(name string, t corev1.PodTemplateSpec) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	t.Labels = labels
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: t,
	}}
}

// fluxJob returns a FluxJob of one pod.
func fluxJob(name, queue string, change ...func(*v1alpha1.FluxJob)) *v1alpha1.FluxJob {
	j := &v1alpha1.FluxJob{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.FluxJobSpec{
		Queue: queue, Image: "busybox:1.28", Command: "sleep 1000",
	}}
	for _, f := range change {
		f(j)
	}
	return j
}

// daemonJob returns a DaemonJob for the nodes that a selector matches.
func daemonJob(name string, selector map[string]string, change ...func(*v1alpha1.DaemonJob)) *v1alpha1.DaemonJob {
	t := pod("true", func(t *corev1.PodTemplateSpec) {
		t.Spec.NodeSelector = selector
		t.Spec.RestartPolicy = corev1.RestartPolicyNever
	})
	j := &v1alpha1.DaemonJob{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.DaemonJobSpec{Template: t}}
	for _, f := range change {
		f(j)
	}
	return j
}
