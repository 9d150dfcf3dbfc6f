package jobflow

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
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
					return Operator(nil).Reconciler(c, c.Now)
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
