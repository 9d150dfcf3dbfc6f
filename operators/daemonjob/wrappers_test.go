package daemonjob

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/events"
)

var epoch = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func at(seconds int) metav1.Time {
	return metav1.NewTime(epoch.Add(time.Duration(seconds) * time.Second))
}

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

// world is a cluster with one DaemonJob, which does what plans say, and lets time pass.
type world struct {
	job     *v1alpha1.DaemonJob
	nodes   map[string]*corev1.Node
	jobs    map[string]*batchv1.Job
	pods    []*corev1.Pod
	named   []*corev1.Pod // that name the DaemonJob, and whose Jobs are gone
	seconds int
	gone    bool // the DaemonJob was deleted by its plan

	created []string // names of Jobs, in order
	deleted []string
	told    []events.Event
}

func newWorld(job *v1alpha1.DaemonJob, nodes ...*corev1.Node) *world {
	w := &world{job: job, nodes: map[string]*corev1.Node{}, jobs: map[string]*batchv1.Job{}}
	for _, n := range nodes {
		w.nodes[n.Name] = n
	}
	return w
}

// worldOf returns a world with as many nodes, n1 and on.
func worldOf(n int, job *v1alpha1.DaemonJob) *world {
	w := newWorld(job)
	for i := range n {
		name := fmt.Sprint("n", i+1)
		w.nodes[name] = makeNode(name)
	}
	return w
}

func (w *world) view() builder.View {
	var jobs, nodes []client.Object
	for _, j := range w.jobs {
		jobs = append(jobs, j)
	}
	for _, p := range w.pods {
		jobs = append(jobs, p)
	}
	for _, n := range w.nodes {
		nodes = append(nodes, n)
	}
	view := buildertest.WithWatched(builder.NewView(at(w.seconds).Time, jobs...), nodes...)
	for _, p := range w.named {
		view = buildertest.WithWatched(view, p)
	}
	return view
}

// pass lets a second pass, runs the plan and carries it out, and returns it.
func (w *world) pass() builder.Plan[*v1alpha1.DaemonJob] {
	w.seconds++
	w.told = nil
	plan := Plan(w.job, w.view())
	for _, c := range plan.Children {
		w.create(c.Object().(*batchv1.Job))
	}
	for _, e := range plan.Edits {
		w.jobs[e.Before.GetName()] = e.After.(*batchv1.Job)
	}
	for _, o := range plan.Delete {
		delete(w.jobs, o.GetName())
		w.deleted = append(w.deleted, o.GetName())
	}
	if plan.Status != nil {
		w.job = plan.Status
	}
	w.told = plan.Events
	w.gone = plan.DeleteOwner
	return plan
}

func (w *world) create(job *batchv1.Job) {
	job = job.DeepCopy()
	job.CreationTimestamp = at(w.seconds)
	w.jobs[job.Name] = job
	w.created = append(w.created, strings.TrimPrefix(job.Name, "demo-"))
}

// complete lets the Jobs of nodes succeed.
func (w *world) complete(nodes ...string) {
	for _, n := range nodes {
		w.completeJob("demo-" + n)
	}
}

func (w *world) completeJob(name string) {
	job := w.jobs[name].DeepCopy()
	end := at(w.seconds)
	job.Status.CompletionTime = &end
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: end}}
	w.jobs[name] = job
}

// fail lets the Jobs of nodes fail.
func (w *world) fail(nodes ...string) {
	for _, n := range nodes {
		job := w.jobs["demo-"+n].DeepCopy()
		job.Status.Conditions = []batchv1.JobCondition{{
			Type: batchv1.JobFailed, Status: corev1.ConditionTrue, LastTransitionTime: at(w.seconds),
			Reason: "BackoffLimitExceeded", Message: "Job has reached the specified backoff limit",
		}}
		w.jobs[job.Name] = job
	}
}

// edit changes the spec, as a user does.
func (w *world) edit(change func(*v1alpha1.DaemonJobSpec)) {
	w.job = w.job.DeepCopy()
	change(&w.job.Spec)
	w.job.Generation++
}

// change changes a node.
func (w *world) change(name string, change func(*corev1.Node)) {
	node := w.nodes[name].DeepCopy()
	change(node)
	w.nodes[name] = node
}

// started returns the nodes whose Jobs were created since it was last called.
func (w *world) started() string {
	names := strings.Join(w.created, " ")
	w.created = nil
	return names
}

// running returns the nodes whose Jobs haven't ended.
func (w *world) running() []string {
	var names []string
	for name, j := range w.jobs {
		if len(j.Status.Conditions) == 0 {
			names = append(names, strings.TrimPrefix(name, "demo-"))
		}
	}
	slices.Sort(names)
	return names
}

func (w *world) status() *v1alpha1.DaemonJobStatus { return &w.job.Status }

// counts renders the numbers of the status.
func (w *world) counts() string {
	s := w.status()
	text := fmt.Sprintf("%s %d/%d", s.State, s.Succeeded, s.Desired)
	for _, c := range []struct {
		n    int32
		what string
	}{{s.Active, "active"}, {s.Suspended, "suspended"}, {s.Failed, "failed"}, {s.Waiting, "waiting"}, {s.Skipped, "skipped"}} {
		if c.n > 0 {
			text += fmt.Sprintf(" %s=%d", c.what, c.n)
		}
	}
	return text
}

func (w *world) condition(kind string) metav1.Condition {
	for _, c := range w.status().Conditions {
		if c.Type == kind {
			return c
		}
	}
	return metav1.Condition{}
}

func (w *world) ready() metav1.Condition { return w.condition(events.ConditionReady) }

// reasons returns those of the last pass's events.
func (w *world) reasons() string {
	var all []string
	for _, e := range w.told {
		all = append(all, e.Reason)
	}
	return strings.Join(all, " ")
}
