package jobflow

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
)

// crashes crashes the operator after each of its writes, with caches that lag by so many changes.
func crashes(t *testing.T, world buildertest.World, objects ...client.Object) {
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	for _, lag := range []int{0, 1, 3} {
		t.Run("lag "+strconv.Itoa(lag), func(t *testing.T) {
			buildertest.CrashEverywhere(t, buildertest.Scenario{
				Scheme:       scheme,
				Options:      []buildertest.Option{buildertest.WithStatusSubresource(&v1alpha1.JobFlow{})},
				Objects:      objects,
				Requests:     []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(objects[0])}},
				World:        world,
				Lag:          lag,
				LagOwnWrites: lag > 1,
				Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
					return buildertest.NewReconciler(Operator(nil), c, c.Now)
				},
			})
		})
	}
}

func TestCrashAfterEachWriteOfAFlowThatSucceeds(t *testing.T) {
	flow := makeFlow(node("a"), node("b", "a"), nodeRef("c", "shared", "a"), node("d", "b", "c"), node("e"))
	crashes(t, buildertest.CompleteJobs, flow, jobTemplate("shared"))
}

func TestCrashAfterEachWriteOfAFlowThatFails(t *testing.T) {
	flow := makeFlow(node("a"), node("b", "a"), node("c", "b"), node("d", "a"))
	world := buildertest.FinishJobs(func(job *batchv1.Job) bool { return job.Name != "demo-b" })
	crashes(t, world, flow)
}

// The Jobs go when their time to live is over; a crash between a Job's end and its record must not run it again.
func TestCrashAfterEachWriteOfAFlowWhoseJobsExpire(t *testing.T) {
	short := jobSpec()
	short.TTLSecondsAfterFinished = ptr.To[int32](0)
	flow := makeFlow(node("b", "a"), v1alpha1.Flow{Name: "a", JobTemplate: short})
	crashes(t, buildertest.CompleteJobs, flow)
}

// The first attempt fails, and the retry that was asked for succeeds.
func TestCrashAfterEachWriteOfARetry(t *testing.T) {
	flow := makeFlow(node("a"), node("b", "a"), node("c", "b"), each("d", "x", "y"))
	flow.Spec.Finally = []v1alpha1.Flow{node("last")}
	flow.Spec.Retry = 1
	world := buildertest.FinishJobs(func(job *batchv1.Job) bool {
		return job.Name != "demo-b" && job.Name != "demo-d-1" && job.Name != "demo-last"
	})
	crashes(t, world, flow)
}

func TestCrashAfterEachWriteOfAFlowWithItems(t *testing.T) {
	flow := makeFlow(each("a", "x", "y", "z"), node("b", "a"), each("none"))
	flow.Spec.Flows[0].ForEach.MaxParallel = ptr.To[int32](2)
	flow.Spec.Flows[2].ForEach.Items = []string{}
	flow.Spec.Parallelism = ptr.To[int32](2)
	flow.Spec.JobRetention = v1alpha1.RetainNone
	crashes(t, buildertest.CompleteJobs, flow)
}

// What a node in finally is told must be the same, whichever pass starts it.
func TestCrashAfterEachWriteOfFinally(t *testing.T) {
	flow := makeFlow(node("a"), nodeWhen("jobs.a.failed", "c", "a"), node("d", "c"))
	flow.Spec.Finally = []v1alpha1.Flow{node("last"), nodeWhen(`state == "Failed"`, "mourn")}
	flow.Spec.FailFast = true
	flow.Spec.JobRetention = v1alpha1.RetainFailed
	crashes(t, buildertest.FinishJobs(func(job *batchv1.Job) bool { return job.Name != "demo-a" }), flow)
}

// The failure is allowed: what relies on it starts once it is on record, and never twice.
func TestCrashAfterEachWriteOfAFailureThatIsAllowed(t *testing.T) {
	flow := makeFlow(nodeMayFail("a"), node("b", "a"), nodeWhen("jobs.a.failed", "c", "a"), node("d", "b"))
	flow.Spec.Finally = []v1alpha1.Flow{nodeMayFail("last")}
	flow.Spec.SuccessWhen = "jobs.d.succeeded"
	crashes(t, buildertest.FinishJobs(func(job *batchv1.Job) bool { return job.Name != "demo-a" && job.Name != "demo-last" }), flow)
}

// The Jobs put something out: first their pods succeed, a round later the Jobs say so.
func TestCrashAfterEachWriteOfOutputs(t *testing.T) {
	reader := node("reader", "writer")
	reader.Inputs = []v1alpha1.Input{{Env: "X", From: "writer"}}
	flow := makeFlow(node("writer"), reader, eachOf("fan", "writer"), nodeWhen(`jobs.writer.output == "[1,2]"`, "when", "writer"))
	for _, how := range []v1alpha1.EndOfJob{v1alpha1.EndOfJobPods, v1alpha1.EndOfJobCondition} {
		t.Run(string(how), func(t *testing.T) {
			flow := flow.DeepCopy()
			flow.Spec.EndOfJob = how
			crashes(t, buildertest.InOrder(finishTheirJobs, succeedPods), flow)
		})
	}
}

// succeedPods gives each Job that has none a pod that has succeeded.
func succeedPods(ctx context.Context, c client.Client) error {
	var jobs batchv1.JobList
	if err := c.List(ctx, &jobs); err != nil {
		return err
	}
	for i := range jobs.Items {
		job := &jobs.Items[i]
		pod := putOut(strings.TrimPrefix(job.Name, "demo-"), "[1,2]")[1].(*corev1.Pod)
		status := pod.Status
		pod.OwnerReferences[0].APIVersion, pod.OwnerReferences[0].UID = "batch/v1", job.UID
		pod.Finalizers = []string{batchv1.JobTrackingFinalizer}
		if len(job.Status.Conditions) > 0 {
			continue
		}
		if err := c.Create(ctx, pod); err != nil {
			if apierrors.IsAlreadyExists(err) {
				continue
			}
			return err
		}
		pod.Status = status
		if err := c.Status().Update(ctx, pod); err != nil {
			return err
		}
	}
	return nil
}

// finishTheirJobs completes the Jobs that have a pod.
func finishTheirJobs(ctx context.Context, c client.Client) error {
	var pods corev1.PodList
	if err := c.List(ctx, &pods); err != nil {
		return err
	}
	if len(pods.Items) == 0 {
		return nil
	}
	return buildertest.CompleteJobs(ctx, c)
}

// The flow is suspended once its first Jobs run, and resumed once they are suspended.
func TestCrashAfterEachWriteOfASuspension(t *testing.T) {
	flow := makeFlow(node("a"), node("b"), node("c", "a"))
	world := func(ctx context.Context, c client.Client) error {
		var now v1alpha1.JobFlow
		if err := c.Get(ctx, client.ObjectKeyFromObject(flow), &now); err != nil {
			return err
		}
		var jobs batchv1.JobList
		if err := c.List(ctx, &jobs); err != nil {
			return err
		}
		suspended := 0
		for _, job := range jobs.Items {
			if ptr.Deref(job.Spec.Suspend, false) {
				suspended++
			}
		}
		switch {
		case now.Annotations["told"] == "" && len(jobs.Items) == 2:
			now.Spec.Suspend, now.Annotations = true, map[string]string{"told": "to wait"}
			return c.Update(ctx, &now)
		case now.Annotations["told"] == "to wait" && suspended == 2 && condition(&now, "Suspended").Status == metav1.ConditionTrue:
			now.Spec.Suspend, now.Annotations = false, map[string]string{"told": "to go on"}
			return c.Update(ctx, &now)
		case now.Annotations["told"] == "to go on" && suspended == 0:
			return buildertest.CompleteJobs(ctx, c)
		}
		return nil
	}
	crashes(t, world, flow)
}

// Someone deletes a Job, whose pod goes on for a while. No Job is there beside it.
func TestCrashAfterEachWriteOfAJobThatIsMadeAgain(t *testing.T) {
	flow := makeFlow(node("a"), node("b", "a"))
	old := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "old", Labels: map[string]string{LabelJobFlow: "demo", LabelFlow: "a"}, Finalizers: []string{"example.com/runs"},
	}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "busybox:1.28"}}}}
	world := func(ctx context.Context, c client.Client) error {
		var now v1alpha1.JobFlow
		if err := c.Get(ctx, client.ObjectKeyFromObject(flow), &now); err != nil {
			return err
		}
		var job batchv1.Job
		err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "demo-a"}, &job)
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		isThere, told := err == nil, now.Annotations["told"]
		next := func(state string, errs ...error) error {
			now.Annotations = map[string]string{"told": state}
			return errors.Join(append(errs, c.Update(ctx, &now))...)
		}
		switch {
		case told == "" && isThere:
			pod := old.DeepCopy()
			pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: job.Name, UID: job.UID, Controller: new(true)}}
			return next("it runs", c.Create(ctx, pod))
		case told == "it runs" && states(&now)["a"] == v1alpha1.FlowRunning:
			return next("it was deleted", c.Delete(ctx, &job))
		case told == "it was deleted" && isThere:
			return errors.New("there is a Job, and the pod of its predecessor hasn't ended")
		case told == "it was deleted" && condition(&now, "Ready").Reason == v1alpha1.ReasonPodsTerminating:
			var pod corev1.Pod
			if err := c.Get(ctx, client.ObjectKeyFromObject(old), &pod); err != nil {
				return err
			}
			pod.Finalizers = nil
			return next("it has ended", c.Update(ctx, &pod))
		case told == "it has ended":
			return buildertest.CompleteJobs(ctx, c)
		}
		return nil
	}
	crashes(t, world, flow)
}

// The flow is terminated while a Job runs.
func TestCrashAfterEachWriteOfATermination(t *testing.T) {
	flow := makeFlow(node("a"), each("b", "x", "y"), node("c", "a"))
	flow.Spec.Finally = []v1alpha1.Flow{node("last")}
	world := func(ctx context.Context, c client.Client) error {
		var now v1alpha1.JobFlow
		if err := c.Get(ctx, client.ObjectKeyFromObject(flow), &now); err != nil {
			return err
		}
		if now.Status.Counts.Running < 2 && !now.Spec.Terminate {
			return nil
		}
		if !now.Spec.Terminate {
			now.Spec.Terminate = true
			return c.Update(ctx, &now)
		}
		return buildertest.FinishJobs(func(job *batchv1.Job) bool { return true })(ctx, onlyLast{c})
	}
	crashes(t, world, flow)
}

// onlyLast is a client that lists no Jobs but those in finally: the others never end.
type onlyLast struct{ client.Client }

func (c onlyLast) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := c.Client.List(ctx, list, opts...); err != nil {
		return err
	}
	jobs := list.(*batchv1.JobList)
	jobs.Items = slices.DeleteFunc(jobs.Items, func(job batchv1.Job) bool { return job.Labels[LabelFlow] != "last" })
	return nil
}
