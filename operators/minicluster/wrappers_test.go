package minicluster

import (
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// planner makes the same certificate each time.
var planner = Planner{NewCertificate: func(name string) []byte {
	return certificate(name, make([]byte, 32), []byte("0123456789abcdef0123456789abcdef"))
}}

// makeCluster returns a MiniCluster of a size that runs a command, changed by the functions given.
func makeCluster(size int32, change ...func(*v1alpha1.MiniCluster)) *v1alpha1.MiniCluster {
	c := &v1alpha1.MiniCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo", UID: "demo-uid", Generation: 1},
		Spec: v1alpha1.MiniClusterSpec{
			Size:       size,
			Containers: []v1alpha1.MiniClusterContainer{{Image: "lammps", Command: "lmp -in in.lj"}},
		},
	}
	for _, f := range change {
		f(c)
	}
	return c
}

func plain(c *v1alpha1.MiniCluster)       { c.Spec.Flux.Disable = true }
func fluxInImage(c *v1alpha1.MiniCluster) { c.Spec.Flux.Container.Disable = true }
func queued(c *v1alpha1.MiniCluster)      { c.Labels = map[string]string{v1alpha1.LabelKueueQueue: "users"} }
func running(command string) func(*v1alpha1.MiniCluster) {
	return func(c *v1alpha1.MiniCluster) { c.Spec.Containers[0].Command = command }
}
func backoffLimit(n int32) func(*v1alpha1.MiniCluster) {
	return func(c *v1alpha1.MiniCluster) { c.Spec.BackoffLimit = new(n) }
}

// firstPasses makes the first n plans of a cluster. Each observes what the one before desires, and its status. It returns the objects that
// the last one desires.
func firstPasses(c *v1alpha1.MiniCluster, n int, plan func(view builder.View) builder.Plan[*v1alpha1.MiniCluster]) []client.Object {
	var objects []client.Object
	for range n {
		p := plan(buildertest.NewView(noon, objects...))
		objects = nil
		for _, child := range p.Children {
			objects = append(objects, child.Object())
		}
		if p.Status != nil {
			c.Status = p.Status.Status
		}
	}
	return objects
}

// started returns the Job of a cluster, a pod for each rank, and the view of them at the time of the call. The cluster has its status.
func started(c *v1alpha1.MiniCluster) (*batchv1.Job, []*corev1.Pod, func() builder.View) {
	objects := firstPasses(c, 2, func(view builder.View) builder.Plan[*v1alpha1.MiniCluster] { return planner.Plan(c, view) })
	job := objects[len(objects)-1].(*batchv1.Job)
	job.UID = "job-uid"
	var pods []*corev1.Pod
	for i := range size(c) {
		rank := strconv.Itoa(int(i))
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Namespace, Name: job.Name + "-" + rank, UID: types.UID(rank), CreationTimestamp: metav1.NewTime(noon),
			Labels:          map[string]string{batchv1.JobCompletionIndexAnnotation: rank},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
		}}
		pods, objects = append(pods, pod), append(objects, pod)
	}
	return job, pods, func() builder.View { return buildertest.NewView(noon, objects...) }
}
