package daemonjob

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

type spec = v1alpha1.DaemonJobSpec

func TestEachNodeRunsOneJob(t *testing.T) {
	w := worldOf(3, makeJob())
	plan := w.pass()
	assert.Equal(t, "n1 n2 n3", w.started())
	assert.Equal(t, "Started", w.reasons())
	assert.Equal(t, "started for 3 nodes", w.told[0].Note)
	assert.Equal(t, "Pending 0/3", w.counts())
	assert.Zero(t, plan.StatusCanWait, "the first status is written at once")
	assert.Equal(t, at(1), *w.status().StartTime)

	plan = w.pass()
	assert.Empty(t, w.started())
	assert.Equal(t, "Running 0/3 active=3", w.counts())
	assert.Zero(t, plan.StatusCanWait, "a new state too")
	assert.Equal(t, "Running", w.ready().Reason)
	assert.Equal(t, "0 of 3 nodes succeeded, 3 running", w.ready().Message)

	w.complete("n2")
	plan = w.pass()
	assert.Equal(t, "Running 1/3 active=2", w.counts())
	assert.Equal(t, time.Second, plan.StatusCanWait, "counts can wait")
	assert.Equal(t, "n2", w.status().SucceededNodes)
	assert.Zero(t, w.pass(), "nothing new")

	w.complete("n1", "n3")
	plan = w.pass()
	assert.Zero(t, plan.StatusCanWait)
	assert.Equal(t, "Succeeded", w.reasons())
	assert.Equal(t, "Succeed 3/3", w.counts())
	assert.Equal(t, "n[1-3]", w.status().SucceededNodes)
	assert.Equal(t, at(4), *w.status().CompletionTime, "when the last Job ended")
	for _, kind := range []string{"Ready", "Succeeded"} {
		assert.Equal(t, metav1.ConditionTrue, w.condition(kind).Status, kind)
		assert.Equal(t, "3 of 3 nodes succeeded", w.condition(kind).Message, kind)
		assert.Equal(t, at(5), w.condition(kind).LastTransitionTime, kind)
	}
	assert.Empty(t, w.condition("Failed"))
	assert.Empty(t, w.condition("Stalled"))
	assert.Empty(t, w.condition("Suspended"))

	clear(w.jobs)
	w.nodes["n4"] = makeNode("n4")
	assert.Zero(t, w.pass(), "it is over, whatever comes")
}

func TestWhatHasEndedIsRemembered(t *testing.T) {
	w := worldOf(3, makeJob())
	w.pass()
	w.complete("n1")
	w.fail("n2")
	w.pass()
	clear(w.jobs)
	w.started()
	w.pass()
	assert.Equal(t, "n3", w.started(), "n3 hadn't ended")
	assert.Equal(t, "Running 1/3 failed=1", w.counts())
	w.complete("n3")
	w.pass()
	assert.Equal(t, "Failed 2/3 failed=1", w.counts())
	assert.Equal(t, "n[1,3]", w.status().SucceededNodes)
	assert.Equal(t, "n2", w.status().FailedNodes)
}

func TestAJobThatIsLeavingIsWaitedFor(t *testing.T) {
	w := worldOf(1, makeJob())
	w.pass()
	w.started()
	leaving := w.jobs["demo-n1"].DeepCopy()
	leaving.DeletionTimestamp = new(at(2))
	w.jobs["demo-n1"] = leaving
	w.pass()
	assert.Empty(t, w.started())
	assert.Equal(t, "Running 0/1 active=1", w.counts())
	delete(w.jobs, "demo-n1")
	w.pass()
	assert.Equal(t, "n1", w.started())
}

func TestAFailureIsToldAndTheOthersGoOn(t *testing.T) {
	w := worldOf(3, makeJob(func(s *spec) { s.Parallelism = new(intstr.FromInt32(1)) }))
	w.pass()
	w.fail("n1")
	w.pass()
	assert.Equal(t, "n1 n2", w.started())
	assert.Equal(t, "JobFailed", w.reasons())
	const why = "n1 failed: BackoffLimitExceeded: Job has reached the specified backoff limit"
	assert.Equal(t, why, w.told[0].Note)
	assert.Equal(t, "demo-n1", w.told[0].Related.(client.Object).GetName())
	w.pass()
	assert.Equal(t, "0 of 3 nodes succeeded, 1 failed, 1 running, 1 to come: "+why, w.ready().Message)
	assert.Empty(t, w.reasons(), "told once")
	w.complete("n2")
	w.pass()
	w.complete("n3")
	w.pass()
	assert.Equal(t, "Failed 2/3 failed=1", w.counts())
	assert.Equal(t, "Failed", w.reasons())
	for kind, value := range map[string]metav1.ConditionStatus{"Ready": "False", "Failed": "True", "Stalled": "True"} {
		c := w.condition(kind)
		assert.Equal(t, value, c.Status, kind)
		assert.Equal(t, "JobFailed", c.Reason, kind)
		assert.Equal(t, "2 of 3 nodes succeeded, 1 failed: "+why, c.Message, kind)
	}
	end := at(1)
	assert.Equal(t, []v1alpha1.NodeFailure{{Node: "n1", Job: "demo-n1", CompletionTime: &end,
		Message: "BackoffLimitExceeded: Job has reached the specified backoff limit"}}, w.status().Failures)
}

func TestManyFailuresAreBounded(t *testing.T) {
	w := worldOf(25, makeJob())
	w.pass()
	for _, n := range w.running() {
		w.fail(n)
	}
	w.pass()
	assert.Len(t, w.told, 12, "ten of them, a count, and the end")
	assert.Equal(t, "and 15 nodes more failed", w.told[10].Note)
	assert.Len(t, w.status().Failures, 10)
	assert.Equal(t, "n[1-25]", w.status().FailedNodes)
}

func TestParallelism(t *testing.T) {
	tests := map[string]struct {
		parallelism *intstr.IntOrString
		want        int
	}{
		"all":                     {nil, 7},
		"a number":                {new(intstr.FromInt32(3)), 3},
		"more than there are":     {new(intstr.FromInt32(30)), 7},
		"a percentage rounded up": {new(intstr.FromString("30%")), 3},
		"at least one":            {new(intstr.FromString("1%")), 1},
		"all, as a percentage":    {new(intstr.FromString("100%")), 7},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := worldOf(7, makeJob(func(s *spec) { s.Parallelism = tt.parallelism }))
			most := 0
			for w.status().CompletionTime == nil {
				w.pass()
				most = max(most, len(w.running()))
				if running := w.running(); len(running) > 0 {
					w.complete(running[0])
				}
			}
			assert.Equal(t, tt.want, most)
			assert.Len(t, w.created, 7)
		})
	}
}

func TestNewNodesJoin(t *testing.T) {
	w := worldOf(1, makeJob())
	w.pass()
	w.nodes["n2"] = makeNode("n2")
	w.complete("n1")
	w.pass()
	assert.Equal(t, "n1 n2", w.started())
	assert.Equal(t, "Running 1/2", w.counts())
	w.complete("n2")
	w.pass()
	assert.Equal(t, "Succeed 2/2", w.counts())
}

func TestACompletionPolicyOfNeverServesNodesThatCome(t *testing.T) {
	w := worldOf(1, makeJob(func(s *spec) { s.CompletionPolicy = v1alpha1.CompleteNever }))
	w.pass()
	w.complete("n1")
	w.pass()
	assert.Equal(t, "Running 1/1", w.counts())
	assert.Equal(t, "UpToDate", w.ready().Reason)
	assert.Equal(t, metav1.ConditionTrue, w.ready().Status)

	w.nodes["n2"] = makeNode("n2")
	w.pass()
	w.pass()
	assert.Equal(t, metav1.ConditionFalse, w.ready().Status)
	w.fail("n2")
	w.pass()
	assert.Equal(t, "Running 1/2 failed=1", w.counts())
	assert.Equal(t, "JobFailed", w.ready().Reason)
	assert.Nil(t, w.status().CompletionTime)

	delete(w.nodes, "n2")
	w.pass()
	assert.Equal(t, "Running 1/1", w.counts(), "what is gone is forgotten")
	assert.Equal(t, metav1.ConditionTrue, w.ready().Status)
	assert.Empty(t, w.status().Failures)
	assert.Empty(t, w.deleted, "its record goes first")
	w.pass()
	assert.Equal(t, []string{"demo-n2"}, w.deleted, "then its Job")
}

func TestRemovedNodesAreForgotten(t *testing.T) {
	w := worldOf(3, makeJob())
	w.pass()
	w.fail("n1")
	w.pass()
	delete(w.nodes, "n1")
	delete(w.nodes, "n2")
	plan := w.pass()
	assert.Equal(t, "Running 0/1 active=1", w.counts())
	assert.Equal(t, []string{"demo-n2"}, w.deleted, "n2 had no record")
	assert.Equal(t, time.Second, plan.RequeueAfter, "n1's record must be gone first")
	w.pass()
	assert.Equal(t, []string{"demo-n2", "demo-n1"}, w.deleted)
	w.complete("n3")
	w.pass()
	assert.Equal(t, "Succeed 1/1", w.counts())
}

func TestANodeThatWasMadeAnewRunsAgain(t *testing.T) {
	w := worldOf(2, makeJob())
	w.pass()
	w.complete("n1")
	w.pass()
	w.started()
	w.change("n1", func(n *corev1.Node) { n.UID = "another" })
	w.pass()
	assert.Empty(t, w.deleted, "its record goes first")
	assert.Equal(t, "Running 0/2 active=2", w.counts())
	w.pass()
	assert.Equal(t, []string{"demo-n1"}, w.deleted)
	w.pass()
	assert.Equal(t, "n1", w.started())
	assert.Equal(t, "another", w.jobs["demo-n1"].Annotations[AnnotationNodeUID])
	w.complete("n1", "n2")
	w.pass()
	assert.Equal(t, "Succeed 2/2", w.counts())
}

func TestAChangeHoldsForWhatHasNotBeenStarted(t *testing.T) {
	w := worldOf(3, makeJob(func(s *spec) { s.Parallelism = new(intstr.FromInt32(1)) }))
	w.pass()
	w.pass()
	w.edit(func(s *spec) {
		s.ExcludeNodeList = "n1,n3"
		s.Template.Spec.Containers[0].Image = "busybox:1.36"
	})
	w.pass()
	assert.Equal(t, "SpecChanged", w.reasons())
	assert.Equal(t, "what the change says of Jobs holds for nodes that have had none yet; 1 Job stays as it is", w.told[0].Note)
	assert.Equal(t, "Running 0/2 active=1", w.counts(), "n1 has its Job")
	w.complete("n1")
	w.pass()
	assert.Equal(t, "n1 n2", w.started())
	assert.Equal(t, "busybox:1.28", w.jobs["demo-n1"].Spec.Template.Spec.Containers[0].Image)
	assert.Equal(t, "busybox:1.36", w.jobs["demo-n2"].Spec.Template.Spec.Containers[0].Image)
	w.complete("n2")
	w.pass()
	assert.Equal(t, "Succeed 2/2", w.counts())

	w.edit(func(s *spec) { s.ExcludeNodeList = "" })
	w.pass()
	assert.Equal(t, "ChangeIgnored", w.reasons())
	assert.Contains(t, w.told[0].Note, "create a new DaemonJob")
	assert.EqualValues(t, 3, w.status().ObservedGeneration)
	assert.EqualValues(t, 3, w.ready().ObservedGeneration)
	assert.Zero(t, w.pass())
}

func TestAJobWithoutNodesWaitsForOne(t *testing.T) {
	w := newWorld(makeJob(func(s *spec) { s.Template.Spec.NodeSelector = map[string]string{"disk": "ssd"} }), makeNode("n1"))
	w.pass()
	assert.Equal(t, "Pending 0/0", w.counts())
	assert.Equal(t, "NoMatchingNodes", w.ready().Reason)
	assert.Equal(t, "Started NoMatchingNodes", w.reasons())
	assert.Zero(t, w.pass())
	w.change("n1", labelled("disk", "ssd"))
	w.pass()
	assert.Equal(t, "n1", w.started())
}

func TestUnavailableNodes(t *testing.T) {
	for policy, ends := range map[v1alpha1.UnavailableNodes]bool{"": false, v1alpha1.UnavailableWait: false, v1alpha1.UnavailableSkip: true} {
		t.Run("policy "+string(policy), func(t *testing.T) {
			w := newWorld(makeJob(func(s *spec) { s.UnavailableNodes = policy }),
				makeNode("n1"), makeNode("n2", cordoned), makeNode("n3", tainted("dedicated", "NoSchedule")),
				makeNode("n4", tainted("node-role.kubernetes.io/control-plane", "NoSchedule")))
			w.pass()
			assert.Equal(t, "n1", w.started())
			assert.Equal(t, "Pending 0/3 waiting=2", w.counts(), "n4 has another role")
			w.complete("n1")
			w.pass()
			if ends {
				assert.Equal(t, "Succeed 1/3 skipped=2", w.counts())
				return
			}
			assert.Equal(t, "Running 1/3 waiting=2", w.counts())
			assert.Equal(t, "NodesUnavailable", w.ready().Reason)
			assert.Equal(t, "1 of 3 nodes succeeded, 2 waiting (n2 is cordoned; n3 has the taint dedicated=v:NoSchedule, which isn't tolerated)", w.ready().Message)
			assert.Equal(t, "NodesUnavailable", w.reasons())
			assert.Zero(t, w.pass())

			w.change("n2", func(n *corev1.Node) { n.Spec.Unschedulable = false })
			w.pass()
			assert.Equal(t, "n2", w.started())
			w.complete("n2")
			delete(w.nodes, "n3")
			w.pass()
			assert.Equal(t, "Succeed 2/2", w.counts())
		})
	}
}

func TestAJobThatCouldNotRunAnywhereDoesNotSucceed(t *testing.T) {
	w := newWorld(makeJob(func(s *spec) { s.UnavailableNodes = v1alpha1.UnavailableSkip }), makeNode("n1", cordoned))
	w.pass()
	assert.Equal(t, "Pending 0/1 waiting=1", w.counts())
}

func TestACordonedNodeGoesOnRunning(t *testing.T) {
	w := worldOf(1, makeJob())
	w.pass()
	w.change("n1", cordoned)
	w.pass()
	assert.Equal(t, "Running 0/1 active=1", w.counts())
}

func TestOthersJobsAreLeftAlone(t *testing.T) {
	w := worldOf(1, makeJob(func(s *spec) { s.ManagedBy = new("example.com/other") }))
	assert.Zero(t, w.pass())
	w = worldOf(1, makeJob(func(s *spec) { s.ManagedBy = ptr.To(lifecycle.ManagedByArmature) }))
	w.pass()
	assert.Equal(t, "n1", w.started())
}

func TestAJobThatIsBeingDeleted(t *testing.T) {
	w := worldOf(2, makeJob())
	w.pass()
	w.started()
	w.job = w.job.DeepCopy()
	w.job.DeletionTimestamp = new(at(2))
	w.nodes["n3"] = makeNode("n3")
	w.pass()
	assert.Empty(t, w.started())
	assert.Equal(t, v1alpha1.StateTerminating, w.status().State)
	assert.Equal(t, "Terminating", w.ready().Reason)
	assert.Zero(t, w.pass())
}

func TestPlanChangesNothingItIsGiven(t *testing.T) {
	w := worldOf(3, makeJob(func(s *spec) {
		s.GlobalParams.Labels = map[string]string{"a": "b"}
		s.TolerateLikeDaemonSet = true
	}))
	w.pass()
	w.fail("n1")
	for _, suspend := range []bool{false, true} {
		w.edit(func(s *spec) { s.Suspend = suspend })
		job, jobs, nodes := w.job.DeepCopy(), map[string]*batchv1.Job{}, map[string]*corev1.Node{}
		for name, j := range w.jobs {
			jobs[name] = j.DeepCopy()
		}
		for name, n := range w.nodes {
			nodes[name] = n.DeepCopy()
		}
		first := Plan(w.job, w.view())
		assert.Equal(t, first, Plan(w.job, w.view()), "the same again")
		assert.Equal(t, job, w.job)
		assert.Equal(t, jobs, w.jobs)
		assert.Equal(t, nodes, w.nodes)
	}
}
