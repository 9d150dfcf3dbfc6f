package daemonjob

import (
	"context"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
)

// kinds tell the server the defaults of a DaemonJob's counts. The file is read once.
var kinds = buildertest.WithCRDs("../../config/crd/api.practice.com_daemonjobs.yaml")

// crashes crashes the operator after each of its writes, with caches that lag by so many changes.
func crashes(t *testing.T, world buildertest.World, job *v1alpha1.DaemonJob, nodes ...*corev1.Node) {
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	objects := []client.Object{job}
	for _, n := range nodes {
		objects = append(objects, n)
	}
	for _, lag := range []int{0, 1, 3} {
		t.Run("lag "+strconv.Itoa(lag), func(t *testing.T) {
			buildertest.CrashEverywhere(t, buildertest.Scenario{
				Scheme:       scheme,
				Options:      []buildertest.Option{kinds},
				Objects:      objects,
				Requests:     []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(job)}},
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

// failOn is a World in which Jobs run to their end, and those of some nodes fail.
func failOn(nodes ...string) buildertest.World {
	return buildertest.FinishJobs(func(job *batchv1.Job) bool {
		return !slices.Contains(nodes, job.Annotations[AnnotationNode])
	})
}

// once is a World that changes a thing once something is the case, and never again.
func once(when func(*v1alpha1.DaemonJob) bool, change func(context.Context, client.Client, *v1alpha1.DaemonJob) error) buildertest.World {
	return func(ctx context.Context, c client.Client) error {
		job := &v1alpha1.DaemonJob{}
		err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "demo"}, job)
		if err != nil || !when(job) {
			return client.IgnoreNotFound(err)
		}
		return change(ctx, c, job)
	}
}

func TestCrashAfterEachWriteOfARollOut(t *testing.T) {
	job := makeJob(func(s *spec) { s.Parallelism = new(intstr.FromInt32(2)) })
	crashes(t, failOn("n3"), job, makeNode("n1"), makeNode("n2"), makeNode("n3"), makeNode("n4"), makeNode("n5", labelled("a", "b")))
}

func TestCrashAfterEachWriteOfAJobThatFailsFast(t *testing.T) {
	job := makeJob(oneByOne(v1alpha1.FailureFailFast, nil))
	crashes(t, failOn("n2"), job, makeNode("n1"), makeNode("n2"), makeNode("n3"))
}

func TestCrashAfterEachWriteOfARetry(t *testing.T) {
	// n2 fails the first time.
	world := buildertest.InOrder(
		buildertest.FinishJobs(func(job *batchv1.Job) bool {
			return job.Annotations[AnnotationNode] != "n2" || job.Annotations[AnnotationRetry] == "1"
		}),
		once(func(job *v1alpha1.DaemonJob) bool { return job.Status.Paused && job.Spec.Retry == 0 },
			func(ctx context.Context, c client.Client, job *v1alpha1.DaemonJob) error {
				job.Spec.Retry = 1
				return c.Update(ctx, job)
			}),
	)
	job := makeJob(oneByOne(v1alpha1.FailurePause, nil))
	crashes(t, world, job, makeNode("n1"), makeNode("n2"), makeNode("n3"))
}

func TestCrashAfterEachWriteOfASuspension(t *testing.T) {
	suspended := func(job *v1alpha1.DaemonJob) bool { return isSuspended(&job.Status) }
	world := buildertest.InOrder(
		once(func(job *v1alpha1.DaemonJob) bool { return job.Status.Active == 2 && job.Generation == 1 },
			func(ctx context.Context, c client.Client, job *v1alpha1.DaemonJob) error {
				job.Spec.Suspend = true
				return c.Update(ctx, job)
			}),
		once(func(job *v1alpha1.DaemonJob) bool { return suspended(job) && job.Spec.Suspend },
			func(ctx context.Context, c client.Client, job *v1alpha1.DaemonJob) error {
				job.Spec.Suspend = false
				return c.Update(ctx, job)
			}),
		once(func(job *v1alpha1.DaemonJob) bool { return job.Generation == 3 && !suspended(job) },
			func(ctx context.Context, c client.Client, _ *v1alpha1.DaemonJob) error {
				return buildertest.CompleteJobs(ctx, c)
			}),
	)
	crashes(t, world, makeJob(), makeNode("n1"), makeNode("n2"))
}

func TestCrashAfterEachWriteAsNodesComeAndGo(t *testing.T) {
	world := buildertest.InOrder(
		failOn(),
		once(func(job *v1alpha1.DaemonJob) bool { return job.Status.Succeeded == 2 },
			func(ctx context.Context, c client.Client, _ *v1alpha1.DaemonJob) error { return replaceNodes(ctx, c) }),
	)
	job := makeJob(func(s *spec) { s.CompletionPolicy = v1alpha1.CompleteNever })
	crashes(t, world, job, makeNode("n1"), makeNode("n2"))
}

// replaceNodes takes n1 away, makes n2 anew under its name, and adds n3.
func replaceNodes(ctx context.Context, c client.Client) error {
	if err := c.Get(ctx, client.ObjectKey{Name: "n3"}, &corev1.Node{}); !apierrors.IsNotFound(err) {
		return err
	}
	for _, name := range []string{"n1", "n2"} {
		if err := c.Delete(ctx, makeNode(name)); err != nil {
			return err
		}
	}
	for _, name := range []string{"n2", "n3"} {
		node := makeNode(name)
		node.UID = ""
		if err := c.Create(ctx, node); err != nil {
			return err
		}
	}
	return nil
}

func TestCrashAfterEachWriteOfAJobThatGoes(t *testing.T) {
	job := makeJob(func(s *spec) { s.TTLSecondsAfterFinished = ptr.To[int32](0) })
	crashes(t, failOn(), job, makeNode("n1"), makeNode("n2"))
}

// The clock moves while nothing else happens.
func TestCrashAfterEachWriteOfADeadline(t *testing.T) {
	job := makeJob(func(s *spec) {
		s.ActiveDeadlineSeconds = ptr.To[int64](30)
		s.Parallelism = new(intstr.FromInt32(1))
	})
	crashes(t, nil, job, makeNode("n1"), makeNode("n2"))
}
