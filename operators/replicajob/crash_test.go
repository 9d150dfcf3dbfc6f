package replicajob

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/operators/internal/origin"
)

// runPods is a World in which pods start, and then end as ends says: with an exit code, or -1 for not at all.
func runPods(ends func(*corev1.Pod) int32) buildertest.World {
	return func(ctx context.Context, c client.Client) error {
		var pods corev1.PodList
		if err := c.List(ctx, &pods); err != nil {
			return err
		}
		var errs []error
		for i := range pods.Items {
			pod := &pods.Items[i]
			switch pod.Status.Phase {
			case corev1.PodRunning:
				code := ends(pod)
				if code < 0 {
					continue
				}
				end(pod, code, metav1.NewTime(c.(*buildertest.Client).Now()))
			case corev1.PodPending, "":
				pod.Status.Phase = corev1.PodRunning
				pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
			default:
				continue
			}
			errs = append(errs, c.Status().Update(ctx, pod))
		}
		return errors.Join(errs...)
	}
}

// always lets all pods end with a code.
func always(code int32) func(*corev1.Pod) int32 { return func(*corev1.Pod) int32 { return code } }

// crashes crashes the operator after each of its writes, with caches that lag by so many changes. It returns the job as
// it is in the end.
func crashes(t *testing.T, world buildertest.World, job *v1alpha1.ReplicaJob, others ...client.Object) *v1alpha1.ReplicaJob {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	kind := ReplicaJobs
	kind.Schedulers = []v1alpha1.GangProvider{v1alpha1.GangKubernetes, v1alpha1.GangPodDisruptionBudget}
	scenario := buildertest.Scenario{
		Scheme:   scheme,
		Options:  []buildertest.Option{buildertest.WithStatusSubresource(&v1alpha1.ReplicaJob{})},
		Objects:  append([]client.Object{job}, others...),
		Requests: []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(job)}},
		World:    world,
		Foreign:  func(obj client.Object) bool { return obj.GetName() == "foreign" },
		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
			return buildertest.NewReconciler(kind.Operator(nil), c, c.Now)
		},
	}
	for _, lag := range []int{0, 1, 3} {
		t.Run("lag "+strconv.Itoa(lag), func(t *testing.T) {
			scenario.Lag, scenario.LagOwnWrites = lag, lag > 1
			buildertest.CrashEverywhere(t, scenario)
		})
	}
	scenario.Lag, scenario.LagOwnWrites = 0, false
	found := &v1alpha1.ReplicaJob{}
	err := buildertest.Settle(t, scenario).Client("test").Get(t.Context(), client.ObjectKeyFromObject(job), found)
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(t, err)
	return found
}

func TestCrashInAJobThatSucceeds(t *testing.T) {
	job := makeJob(replicas("Chief", 1, after("Worker", "Ready")), replicas("Worker", 3),
		gang(v1alpha1.SchedulingPolicy{MinAvailable: ptr.To[int32](2)}))
	job.Spec.Network.ServicePerReplica = true
	job = crashes(t, runPods(func(p *corev1.Pod) int32 {
		if p.Labels[LabelRole] == RoleMaster {
			return 0
		}
		return -1
	}), job)
	require.Equal(t, v1alpha1.ReplicaJobSucceeded, job.Status.State)
}

func TestCrashInAJobWhoseReplicasRestart(t *testing.T) {
	job := crashes(t, runPods(func(p *corev1.Pod) int32 {
		if origin.Number(p.Labels, LabelRestarts) < 2 && p.Labels[LabelIndex] != "1" {
			return 137
		}
		return 0
	}), makeJob(replicas("Worker", 3, restart("ExitCode")), success("AllWorkers"), backoffLimit(4)))
	require.Equal(t, v1alpha1.ReplicaJobSucceeded, job.Status.State)
	require.EqualValues(t, 4, job.Status.ReplicaStatuses["Worker"].Restarts)
	require.Equal(t, map[string]int32{"0": 2, "2": 2}, job.Status.ReplicaStatuses["Worker"].ReplicaRestarts)
}

func TestCrashInAJobThatExceedsItsLimit(t *testing.T) {
	job := crashes(t, runPods(always(137)), makeJob(replicas("Worker", 1, restart("ExitCode")), backoffLimit(2)))
	require.Equal(t, v1alpha1.ReplicaJobFailed, job.Status.State)
	require.EqualValues(t, 2, job.Status.ReplicaStatuses["Worker"].Restarts)
}

func TestCrashInAJobThatRestarts(t *testing.T) {
	for _, strategy := range []v1alpha1.RestartStrategy{v1alpha1.RestartRecreate, v1alpha1.RestartBlockingRecreate} {
		job := makeJob(replicas("Worker", 3), rules(rule{Action: "RestartJob"}), success("AllWorkers"))
		job.Spec.FailurePolicy.MaxRestarts, job.Spec.FailurePolicy.RestartStrategy = ptr.To[int32](2), strategy
		job = crashes(t, runPods(func(p *corev1.Pod) int32 {
			if origin.Number(p.Labels, LabelRestartAttempt) < 2 && p.Labels[LabelIndex] == "1" {
				return 1
			}
			return 0
		}), job)
		require.Equal(t, v1alpha1.ReplicaJobSucceeded, job.Status.State)
		require.EqualValues(t, 2, job.Status.Restarts)
	}
}

// A job that is suspended once it runs, and resumed once its pods are gone.
func TestCrashInAJobThatIsSuspended(t *testing.T) {
	world := func(ctx context.Context, c client.Client) error {
		var jobs v1alpha1.ReplicaJobList
		var pods corev1.PodList
		if err := errors.Join(c.List(ctx, &jobs), c.List(ctx, &pods)); err != nil {
			return err
		}
		job := &jobs.Items[0]
		wasSuspended := job.Annotations["was-suspended"] != ""
		switch {
		case !wasSuspended && meta.IsStatusConditionTrue(job.Status.Conditions, "Running"):
			metav1.SetMetaDataAnnotation(&job.ObjectMeta, "was-suspended", "yes")
			job.Spec.RunPolicy.Suspend = true
			return c.Update(ctx, job)
		case job.Spec.RunPolicy.Suspend && len(pods.Items) == 0:
			job.Spec.RunPolicy.Suspend = false
			return c.Update(ctx, job)
		}
		return runPods(func(*corev1.Pod) int32 {
			if wasSuspended && !job.Spec.RunPolicy.Suspend {
				return 0
			}
			return -1
		})(ctx, c)
	}
	job := crashes(t, world, makeJob(replicas("Worker", 2), success("AllWorkers"), gang(v1alpha1.SchedulingPolicy{Provider: "PodDisruptionBudget"})))
	require.Equal(t, v1alpha1.ReplicaJobSucceeded, job.Status.State)
}

func TestCrashInAJobThatExpires(t *testing.T) {
	job := makeJob(replicas("Worker", 2), run(func(p *v1alpha1.RunPolicy) {
		p.TTLSecondsAfterFinished, p.ActiveDeadlineSeconds = ptr.To[int32](0), ptr.To[int64](60)
	}))
	require.Nil(t, crashes(t, runPods(always(-1)), job), "the deadline passes, and then it is deleted")
}

func TestCrashInAJobThatTakesOverPods(t *testing.T) {
	job := makeJob(replicas("Worker", 3), success("AllWorkers"))
	job = crashes(t, runPods(always(0)), job, orphanOf(job, ReplicaJobs.Name))
	require.Equal(t, v1alpha1.ReplicaJobSucceeded, job.Status.State)
}

// orphanOf is the second pod of a job, as a field manager has created it, and without a controller.
func orphanOf(job *v1alpha1.ReplicaJob, manager string) *corev1.Pod {
	p := ReplicaJobs.passOf(job, buildertest.NewView(epoch))
	pod := p.render(p.observe(nil).groups[0], 1)
	labels := map[string]any{}
	for name := range pod.Labels {
		labels["f:"+name] = map[string]any{}
	}
	fields, err := json.Marshal(map[string]any{"f:metadata": map[string]any{"f:labels": labels}})
	if err != nil {
		panic(err)
	}
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(string(fields)), Time: new(metav1.NewTime(epoch)),
	}}
	return pod
}

// Who may create jobs, and no pods, gets no one's pod by a job that has its name and its labels.
func TestAPodThatSomeoneElseHasLabelledIsNoReplica(t *testing.T) {
	job := makeJob(replicas("Worker", 3))
	victim := orphanOf(job, "kubectl-create")
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	server := buildertest.NewServer(scheme, buildertest.WithStatusSubresource(job), buildertest.WithObjects(job, victim))
	c := server.Client("test")
	r, err := buildertest.NewReconciler(ReplicaJobs.Operator(nil), c, c.Now)
	require.NoError(t, err)
	request := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(job)}
	for range 5 { // more than it takes until nothing changes
		_, err = r.Reconcile(t.Context(), request)
	}
	require.ErrorIs(t, err, builder.ErrNotOwned)
	require.NoError(t, c.Get(t.Context(), request.NamespacedName, job))
	require.Equal(t, "NotOwned", meta.FindStatusCondition(job.Status.Conditions, "Ready").Reason)
	require.NoError(t, c.Delete(t.Context(), job))
	_, err = r.Reconcile(t.Context(), request)
	require.NoError(t, err)
	server.CollectGarbage()
	found := &corev1.Pod{}
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(victim), found), "it is there still")
	require.Empty(t, found.OwnerReferences)
}
