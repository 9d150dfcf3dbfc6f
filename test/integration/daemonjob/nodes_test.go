package daemonjob

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/daemonjob"
	"github.com/armature-dev/armature/test/integration/internal/harness"
)

func cordon(n *corev1.Node)   { n.Spec.Unschedulable = true }
func uncordon(n *corev1.Node) { n.Spec.Unschedulable = false }

func TestCordonedAndTaintedNodesWaitAndAreTakenUp(t *testing.T) {
	p := newPlace(t)
	p.addNode("a")
	b, c, d := p.addNode("b"), p.addNode("c"), p.addNode("d")
	p.changeNode(b, cordon)
	p.changeNode(c, func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "dedicated", Value: "x", Effect: corev1.TaintEffectNoSchedule})
	})
	p.changeNode(d, func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule})
	})
	p.manage()
	p.create(p.onPool("0s"))
	job := p.waitReason(v1alpha1.ReasonNodesUnavailable)
	assert.Equal(t, "desired 3, active 0, succeeded 1, failed 0, waiting 2, skipped 0", countsOf(job))
	message := meta.FindStatusCondition(job.Status.Conditions, "Ready").Message
	assert.Contains(t, message, b+" is cordoned")
	assert.Contains(t, message, c+" has the taint dedicated=x:NoSchedule, which isn't tolerated")
	p.OneEvent("demo", v1alpha1.ReasonNodesUnavailable)

	p.changeNode(b, uncordon)
	p.waitCounts("desired 3, active 0, succeeded 2, failed 0, waiting 1, skipped 0")
	p.changeNode(c, func(n *corev1.Node) { n.Spec.Taints = nil })
	job = p.waitState("demo", v1alpha1.StateSucceed)
	assert.Equal(t, "desired 3, active 0, succeeded 3, failed 0, waiting 0, skipped 0", countsOf(job))
}

func TestUnavailableNodesCanBeSkippedOrTolerated(t *testing.T) {
	p := newPlace(t)
	p.addNode("a")
	p.changeNode(p.addNode("b"), cordon)
	p.manage()
	spec := p.onPool("0s")
	spec.UnavailableNodes = v1alpha1.UnavailableSkip
	p.create(spec)
	job := p.waitState("demo", v1alpha1.StateSucceed)
	assert.Equal(t, "desired 2, active 0, succeeded 1, failed 0, waiting 0, skipped 1", countsOf(job))

	tolerant := &v1alpha1.DaemonJob{Spec: p.onPool("0s")}
	tolerant.Namespace, tolerant.Name = p.Namespace, "tolerant"
	tolerant.Spec.TolerateLikeDaemonSet = true
	require.NoError(t, p.Client.Create(t.Context(), tolerant))
	job = p.waitState("tolerant", v1alpha1.StateSucceed)
	assert.Equal(t, "desired 2, active 0, succeeded 2, failed 0, waiting 0, skipped 0", countsOf(job))
}

func TestNodesComeAndGo(t *testing.T) {
	p := newPlace(t)
	a, b := p.addNode("a"), p.addNode("b")
	p.manage()
	p.create(p.onPool("forever"))
	p.waitCounts("desired 2, active 2, succeeded 0, failed 0, waiting 0, skipped 0")
	p.addNode("c")
	p.waitCounts("desired 3, active 3, succeeded 0, failed 0, waiting 0, skipped 0")
	p.removeNode(a)
	p.waitCounts("desired 2, active 2, succeeded 0, failed 0, waiting 0, skipped 0")
	p.Eventually("the Job of the node that is gone is deleted", func() bool { return len(p.Jobs()) == 2 })

	p.removeNode(b)
	p.addNode("b") // made anew
	anew := &corev1.Node{}
	require.NoError(t, p.Client.Get(t.Context(), client.ObjectKey{Name: b}, anew))
	p.Eventually("the new node has a Job of its own", func() bool {
		pods := &corev1.PodList{} // simulated nodes don't end a pod that is older than the node; a kubelet does
		require.NoError(t, p.Client.List(t.Context(), pods, client.InNamespace(p.Namespace)))
		for i := range pods.Items {
			if pod := &pods.Items[i]; pod.Spec.NodeName == b && pod.DeletionTimestamp != nil {
				require.NoError(t, client.IgnoreNotFound(p.Client.Delete(t.Context(), pod, client.GracePeriodSeconds(0))))
			}
		}
		own := &batchv1.Job{}
		err := p.Client.Get(t.Context(), client.ObjectKey{Namespace: p.Namespace, Name: "demo-" + b}, own)
		require.NoError(t, client.IgnoreNotFound(err))
		return own.Annotations[daemonjob.AnnotationNodeUID] == string(anew.UID)
	})
}

func TestAJobWaitsForANode(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create(p.onPool("0s"))
	job := p.waitReason(v1alpha1.ReasonNoMatchingNodes)
	assert.Equal(t, v1alpha1.StatePending, job.Status.State)
	p.addNode("a")
	p.waitState("demo", v1alpha1.StateSucceed)
}

func TestNodesAreSelectedAndExcluded(t *testing.T) {
	p := newPlace(t)
	a, b, c := p.addNode("a"), p.addNode("b"), p.addNode("c")
	d := p.addNode("d.e")
	p.changeNode(c, func(n *corev1.Node) { n.Labels["maintenance"] = "true" })
	p.manage()
	spec := p.onPool("0s")
	spec.ExcludeNodeList = "nobody, " + a
	spec.ExcludeNodeSelector = selector("maintenance", "true")
	p.create(spec)
	p.waitState("demo", v1alpha1.StateSucceed)
	assert.ElementsMatch(t, []string{"demo-" + b, daemonjob.JobName("demo", d)}, p.Jobs())
	for node, pod := range p.pods("demo") {
		assert.Equal(t, node, pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0])
	}
	out, err := p.Kubectl("get", "events", "--field-selector", "reason=Scheduled")
	require.NoError(t, err)
	assert.Contains(t, out, "to "+b, "by the scheduler")
}

func TestLongAndDottedNamesOfNodesDoNotClash(t *testing.T) {
	p := newPlace(t)
	p.addNode("x.y")
	p.addNode("x-y")
	p.addNode("a-node.with-a-long-name.in-a-domain.of-many-parts.in-a-country.in-a-world.example.org")
	p.manage()
	p.create(p.onPool("0s"))
	job := p.waitState("demo", v1alpha1.StateSucceed)
	assert.EqualValues(t, 3, job.Status.Succeeded)
	assert.Len(t, p.Jobs(), 3)
	assert.Len(t, p.pods("demo"), 3)
}

// A heartbeat of a node, or a label that no one asks for, is no reason to write anything.
func TestAPassOverAnUnchangedJobMakesNoRequest(t *testing.T) {
	p := newPlaceAlone(t)
	var made harness.Requests
	p.addNode("a")
	b := p.addNode("b")
	p.changeNode(b, cordon)
	p.manage(made.Record)
	p.create(p.onPool("0s"))
	p.wait("demo", "a has run, and b is unavailable", func(j *v1alpha1.DaemonJob) bool {
		ready := meta.FindStatusCondition(j.Status.Conditions, "Ready")
		return ready != nil && ready.Reason == v1alpha1.ReasonNodesUnavailable && j.Status.Succeeded == 1
	})
	p.OneEvent("demo", v1alpha1.ReasonNodesUnavailable) // events are written a moment later
	made.Take()
	for _, label := range []string{"x", "y"} {
		p.AwaitPass(daemonjob.Name, func() {
			p.changeNode(b, func(n *corev1.Node) { n.Labels["tried"] = label })
		})
		assert.Empty(t, made.Take())
	}
}
