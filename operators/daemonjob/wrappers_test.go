package daemonjob

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/api/v1alpha1"
)

var epoch = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func at(seconds int) metav1.Time {
	return metav1.NewTime(epoch.Add(time.Duration(seconds) * time.Second))
}

type spec = v1alpha1.DaemonJobSpec

// makeJob returns the DaemonJob demo, changed.
func makeJob(change ...func(*v1alpha1.DaemonJobSpec)) *v1alpha1.DaemonJob {
	job := &v1alpha1.DaemonJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo", UID: "demo-uid", Generation: 1},
		Spec: v1alpha1.DaemonJobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "main", Image: "busybox:1.28", Command: []string{"true"}}},
		}}},
	}
	for _, f := range change {
		f(&job.Spec)
	}
	return job
}

// makeNode returns a ready node, changed.
func makeNode(name string, change ...func(*corev1.Node)) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: types.UID(name + "-uid"), Labels: map[string]string{corev1.LabelHostname: name},
	}}
	for _, f := range change {
		f(node)
	}
	return node
}

func cordoned(n *corev1.Node) { n.Spec.Unschedulable = true }

func tainted(key string, effect corev1.TaintEffect) func(*corev1.Node) {
	return func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Value: "v", Effect: effect})
	}
}

func labelled(key, value string) func(*corev1.Node) {
	return func(n *corev1.Node) { n.Labels[key] = value }
}
