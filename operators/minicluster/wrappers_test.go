package minicluster

import (
	"reflect"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
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

// world is what a plan sees, and what is done to it: a cluster in which plans are carried out by the test.
type world struct {
	c    *v1alpha1.MiniCluster
	now  time.Time
	job  *batchv1.Job
	pods []*corev1.Pod
	made []client.Object // all else
	told []string
	gone bool // the owner deleted itself
	// serial tells pods apart.
	serial int
}

func newWorld(c *v1alpha1.MiniCluster) *world { return &world{c: c, now: noon} }

func (w *world) view() builder.View {
	objects := append([]client.Object{}, w.made...)
	if w.job != nil {
		objects = append(objects, w.job)
	}
	for _, p := range w.pods {
		objects = append(objects, p)
	}
	return buildertest.NewView(w.now, objects...)
}

// pass makes a plan and carries out all of it.
func (w *world) pass() builder.Plan[*v1alpha1.MiniCluster] {
	plan := planner.Plan(w.c.DeepCopy(), w.view())
	for _, child := range plan.Children {
		w.take(child.Object())
	}
	for _, e := range plan.Edits {
		w.job = e.After.(*batchv1.Job).DeepCopy()
	}
	for _, o := range plan.Delete {
		if _, ok := o.(*batchv1.Job); ok {
			w.job, w.pods = nil, nil
		}
	}
	w.gone = w.gone || plan.DeleteOwner
	if plan.Status != nil {
		w.c.Status = *plan.Status.Status.DeepCopy()
	}
	for _, e := range plan.Events {
		w.told = append(w.told, e.Reason)
	}
	return plan
}

// take keeps an object that is wanted, if it isn't there.
func (w *world) take(o client.Object) {
	if job, ok := o.(*batchv1.Job); ok {
		if w.job == nil {
			w.job = job.DeepCopy()
			w.job.UID = types.UID("job-" + w.job.Labels[LabelAttempt])
			w.job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(w.c, v1alpha1.GroupVersion.WithKind("MiniCluster"))}
		}
		return
	}
	for i, known := range w.made {
		if known.GetName() == o.GetName() && sameType(known, o) {
			w.made[i] = o
			return
		}
	}
	w.made = append(w.made, o)
}

func equal(a, b any) bool { return equality.Semantic.DeepEqual(a, b) }

func sameType(a, b any) bool { return reflect.TypeOf(a) == reflect.TypeOf(b) }
