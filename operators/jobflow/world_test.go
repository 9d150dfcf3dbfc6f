package jobflow

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/operators/internal/origin"
	"github.com/armature-dev/armature/operators/jobflow/internal/outputs"
)

// world is a cluster with one flow, whose Jobs do what they are meant to, and an operator that may crash and may see old
// Jobs and old pods.
type world struct {
	t       *rapid.T
	flow    *v1alpha1.JobFlow
	meant   meaning
	objects map[string]client.Object   // Jobs and pods by kind and name, as they are
	history []map[string]client.Object // as they were after each change
	jobView int                        // how much of the history the operator has seen of Jobs,
	podView int                        // and of pods
	seconds int
	times   []int // when each change happened

	retry   int                     // the attempt that the last Job was created in
	created map[string]int          // how often a Job of a name was created
	ended   map[string]bool         // Jobs that have ended
	first   map[string]*batchv1.Job // the first Job of a name
	check   func(job *batchv1.Job)  // called before a Job is created
}

// meaning is what Jobs are meant to come to. It depends on nothing but the Job's name and labels.
type meaning struct {
	fails  func(node string, item, retry int) bool
	output func(node string) string
}

func newWorld(t *rapid.T, flow *v1alpha1.JobFlow, meant meaning) *world {
	w := &world{
		t: t, flow: flow, meant: meant, objects: map[string]client.Object{},
		created: map[string]int{}, ended: map[string]bool{}, first: map[string]*batchv1.Job{},
	}
	w.happened()
	return w
}

// happened adds to the history what there is now.
func (w *world) happened() {
	w.history = append(w.history, maps.Clone(w.objects))
	w.times = append(w.times, w.seconds)
}

// notOlder returns the oldest view of pods that a cache may still show: one that is less behind than the plan is patient.
func (w *world) notOlder(view int) int {
	for view < len(w.times)-1 && w.times[view+1] < w.seconds-int(outputs.Timeout/time.Second) {
		view++
	}
	return view
}

func (w *world) put(obj client.Object) {
	w.objects[fmt.Sprintf("%T %s", obj, obj.GetName())] = obj
	w.happened()
}

func (w *world) remove(obj client.Object) {
	delete(w.objects, fmt.Sprintf("%T %s", obj, obj.GetName()))
	w.happened()
}

func (w *world) jobs() []*batchv1.Job { return of[*batchv1.Job](w.objects) }

// of returns the objects of a kind, ordered by name.
func of[T client.Object](objects map[string]client.Object) []T {
	var all []T
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		if obj, ok := objects[key].(T); ok {
			all = append(all, obj)
		}
	}
	return all
}

func (w *world) now() time.Time { return epoch.Add(time.Duration(w.seconds) * time.Second) }

// pass runs the plan on what the operator sees, and carries out as much of it as the crash lets it. A status that can
// wait may do so.
func (w *world) pass() {
	w.seconds++
	w.jobView = rapid.IntRange(w.jobView, len(w.history)-1).Draw(w.t, "view of Jobs")
	w.podView = rapid.IntRange(w.notOlder(w.podView), len(w.history)-1).Draw(w.t, "view of pods")
	plan := w.plan(of[*batchv1.Job](w.history[w.jobView]), of[*corev1.Pod](w.history[w.podView]))
	left := len(plan.Children) + len(plan.Edits) + len(plan.Delete) + 1
	crash := rapid.IntRange(0, 4).Draw(w.t, "crash") == 0
	if crash {
		left = rapid.IntRange(0, left-1).Draw(w.t, "writes")
	}
	w.carryOut(plan, left, rapid.Bool().Draw(w.t, "write a status that can wait"))
	if crash {
		w.jobView = rapid.IntRange(0, len(w.history)-1).Draw(w.t, "view of the next life")
		w.podView = rapid.IntRange(0, len(w.history)-1).Draw(w.t, "view of the next life")
	}
}

// carryOut does what a plan says, as the builder does, up to so many writes.
func (w *world) carryOut(plan builder.Plan[*v1alpha1.JobFlow], writes int, eager bool) {
	for _, child := range plan.Children {
		if writes--; writes < 0 {
			return
		}
		w.create(child.Object().(*batchv1.Job))
	}
	for _, edit := range plan.Edits {
		if writes--; writes < 0 {
			return
		}
		if w.objects["*v1.Job "+edit.Before.GetName()] == edit.Before { // else it is a conflict
			w.put(edit.After)
		}
	}
	for _, job := range plan.Delete {
		if writes--; writes < 0 {
			return
		}
		if w.objects["*v1.Job "+job.GetName()] == job {
			w.removeJob(job.(*batchv1.Job))
		}
	}
	if plan.Status != nil && writes > 0 && (eager || plan.StatusCanWait == 0) {
		w.flow = plan.Status
	}
}

// plan calls Plan, and checks that it is a function of its input, in whatever order that comes.
func (w *world) plan(jobs []*batchv1.Job, pods []*corev1.Pod) builder.Plan[*v1alpha1.JobFlow] {
	run := func(copied bool) builder.Plan[*v1alpha1.JobFlow] {
		var objs []client.Object
		for _, job := range jobs {
			objs = append(objs, job)
		}
		for _, pod := range pods {
			objs = append(objs, pod)
		}
		flow := w.flow
		if copied {
			slices.Reverse(objs)
			flow = w.flow.DeepCopy()
		}
		return Plan(flow, buildertest.NewView(w.now(), objs...))
	}
	flow, before := w.flow.DeepCopy(), make([]client.Object, 0, len(jobs))
	for _, job := range jobs {
		before = append(before, job.DeepCopy())
	}
	plan := run(false)
	require.Equal(w.t, flow, w.flow, "the flow was changed")
	for i, job := range jobs {
		require.Equal(w.t, before[i], job, "a Job was changed")
	}
	again := run(true)
	require.Equal(w.t, plan.Children, again.Children, "the plan depends on the order of the view")
	require.Equal(w.t, plan.Events, again.Events)
	if plan.Status != nil {
		require.NotNil(w.t, again.Status)
		require.Equal(w.t, plan.Status.Status, again.Status.Status)
	}
	return plan
}

func (w *world) create(job *batchv1.Job) {
	if w.check != nil {
		w.check(job)
	}
	if first := w.first[job.Name]; first != nil {
		require.Equal(w.t, first, job, "%s was rendered differently", job.Name)
	}
	w.first[job.Name] = job
	if w.objects["*v1.Job "+job.Name] != nil {
		return // AlreadyExists
	}
	w.created[job.Name]++
	job = job.DeepCopy()
	job.UID = types.UID(fmt.Sprint(job.Name, "/", w.created[job.Name]))
	job.CreationTimestamp = metav1.NewTime(w.now())
	w.put(job)
}

// removeJob deletes a Job, and its pods with it.
func (w *world) removeJob(job *batchv1.Job) {
	w.remove(job)
	for _, pod := range of[*corev1.Pod](w.objects) {
		if metav1.IsControlledBy(pod, job) {
			w.remove(pod)
		}
	}
}

// labelsOf are the node, the item (-1 for none) and the retry of a Job.
func labelsOf(job *batchv1.Job) (node string, item, retry int) {
	return job.Labels[LabelFlow], itemOf(job), int(origin.Number(job.Labels, LabelRetry))
}

// active returns the Jobs that haven't ended and aren't suspended.
func (w *world) active() []*batchv1.Job {
	return slices.DeleteFunc(w.jobs(), func(job *batchv1.Job) bool {
		return len(job.Status.Conditions) > 0 || ptr.Deref(job.Spec.Suspend, false)
	})
}

// work lets a Job go on: first its pod ends, then, if it wasn't the last attempt, the Job says so.
func (w *world) work(job *batchv1.Job) {
	node, item, retry := labelsOf(job)
	fails := w.meant.fails(node, item, retry)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: job.Namespace, Name: job.Name + "-pod", Finalizers: []string{batchv1.JobTrackingFinalizer},
		OwnerReferences:   []metav1.OwnerReference{{Kind: "Job", Name: job.Name, UID: job.UID, Controller: new(true)}},
		CreationTimestamp: metav1.NewTime(w.now()),
	}}
	pod.Spec.Containers = []corev1.Container{{Name: "main"}}
	key := fmt.Sprintf("%T %s", pod, pod.Name)
	if old, ok := w.objects[key]; !ok || old.GetOwnerReferences()[0].UID != job.UID {
		w.seconds++
		pod.Status.Phase = corev1.PodSucceeded
		if fails {
			pod.Status.Phase = corev1.PodFailed
		}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{Message: w.meant.output(node), FinishedAt: metav1.NewTime(w.now())},
		}}}
		w.put(pod)
		return
	}
	w.seconds++
	done := job.DeepCopy()
	now := metav1.NewTime(w.now())
	kind := batchv1.JobComplete
	if fails {
		kind = batchv1.JobFailed
	} else {
		done.Status.CompletionTime = &now
	}
	done.Status.Conditions = []batchv1.JobCondition{{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now, Reason: "Meant"}}
	w.put(done)
}

// settle runs the flow to its end, with nothing going wrong, and returns whether it got there.
func (w *world) settle() bool {
	for range 20 * (len(w.flow.Spec.Flows) + len(w.flow.Spec.Finally) + 5) {
		if s := w.flow.Status; s.CompletionTime != nil && currentRetry(w.flow) == s.Retry && s.ObservedGeneration == w.flow.Generation {
			return true
		}
		w.seconds++
		w.carryOut(w.plan(w.jobs(), of[*corev1.Pod](w.objects)), 1<<30, true)
		for _, job := range w.active() {
			w.work(job)
		}
	}
	return false
}
