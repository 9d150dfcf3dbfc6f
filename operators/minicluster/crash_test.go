package minicluster

import (
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/internal/testsize"
)

// crashes crashes the operator after each of its writes, with caches that lag by so many changes. The leader of each
// start ends with one of the exit codes, or as [leaderEnds] says.
func crashes(t *testing.T, c *v1alpha1.MiniCluster, codes ...int32) {
	c.UID = ""
	for _, lag := range testsize.Pick([]int{3}, []int{0, 1, 3}) {
		t.Run("lag "+strconv.Itoa(lag), func(t *testing.T) {
			buildertest.CrashEverywhere(t, buildertest.Scenario{
				Scheme:       testScheme(t),
				Options:      []buildertest.Option{buildertest.WithStatusSubresource(&v1alpha1.MiniCluster{})},
				Objects:      []client.Object{c.DeepCopy(), aNode},
				Requests:     []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(c)}},
				Cluster:      cluster(codes...),
				Lag:          lag,
				LagOwnWrites: lag > 1,
				Reconciler:   operator.Reconciler,
			})
		})
	}
}

func TestCrashAfterEachWriteOfAClusterThatSucceeds(t *testing.T) {
	crashes(t, makeCluster(2, func(c *v1alpha1.MiniCluster) {
		c.Spec.Services = []v1alpha1.MiniClusterContainer{{Name: "db", Image: "db"}}
	}), 0)
}

func TestCrashAfterEachWriteOfAClusterThatRestarts(t *testing.T) {
	crashes(t, makeCluster(1, backoffLimit(1)), podDeleted, 0)
}

func TestCrashAfterEachWriteOfAClusterWhoseJobIsDeleted(t *testing.T) {
	crashes(t, makeCluster(1, backoffLimit(1)), jobDeleted, 0)
}

func TestCrashAfterEachWriteOfAClusterThatFails(t *testing.T) {
	crashes(t, makeCluster(1, backoffLimit(1)), exitKilled, 4)
}

func TestCrashAfterEachWriteOfAClusterThatCleansUp(t *testing.T) {
	crashes(t, makeCluster(1, func(c *v1alpha1.MiniCluster) { c.Spec.Cleanup = true }), 0)
}

func TestCrashAfterEachWriteOfAClusterThatGoes(t *testing.T) {
	crashes(t, makeCluster(1, func(c *v1alpha1.MiniCluster) { c.Spec.TTLSecondsAfterFinished = ptr.To[int32](0) }), 0)
}

// leaderEnds is a controller that ends the leader of each start, a second after its begin, with one of the exit codes, or deletes its pod or
// its Job. It deletes the orphans of the Job later.
type leaderEnds []int32

const (
	podDeleted int32 = -1
	jobDeleted int32 = -2
)

func (leaderEnds) Name() string { return "leader" }

func (codes leaderEnds) Changes(s *world.State) []world.Change {
	jobs := map[types.UID]*batchv1.Job{}
	for _, job := range world.All[*batchv1.Job](s) {
		jobs[job.UID] = job
	}
	var changes []world.Change
	for _, pod := range world.All[*corev1.Pod](s) {
		owner := metav1.GetControllerOf(pod)
		if owner == nil { // the deleted Job has left it as an orphan
			if pod.DeletionTimestamp == nil && s.Due(pod.CreationTimestamp.Add(10*time.Second)) {
				changes = append(changes, world.Change{Verb: world.VerbDelete, Object: pod})
			}
			continue
		}
		job, ok := jobs[owner.UID]
		isLeader := ok && pod.Annotations[batchv1.JobCompletionIndexAnnotation] == "0"
		if !isLeader || pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil {
			continue
		}
		if !s.Due(pod.Status.StartTime.Add(time.Second)) {
			continue
		}
		code := codes[attempt(job)]
		switch code {
		case podDeleted:
			changes = append(changes, world.Change{Verb: world.VerbDelete, Object: pod})
			continue
		case jobDeleted:
			changes = append(changes, world.Change{Verb: world.VerbDelete, Object: job})
			continue
		}
		pod = pod.DeepCopy()
		pod.Status.Phase = corev1.PodSucceeded
		if code > 0 {
			pod.Status.Phase = corev1.PodFailed
		}
		for i := range pod.Status.ContainerStatuses {
			pod.Status.ContainerStatuses[i].State = corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: metav1.NewTime(s.Now)},
			}
		}
		changes = append(changes, world.Change{Verb: world.VerbUpdateStatus, Object: pod})
	}
	return changes
}

// cluster returns a simulated cluster in which leaders end so.
func cluster(codes ...int32) func(*buildertest.Server) buildertest.Cluster {
	return func(server *buildertest.Server) buildertest.Cluster {
		return world.New(server, world.Options{Controllers: []world.Controller{leaderEnds(codes)}})
	}
}

// aNode is a node without limits.
var aNode = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
