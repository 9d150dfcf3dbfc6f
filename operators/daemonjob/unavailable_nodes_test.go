package daemonjob

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
)

func TestInterruption(t *testing.T) {
	pod := func(change ...func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(0)}, Spec: corev1.PodSpec{NodeName: "n1"}}
		p.Status.Phase = corev1.PodRunning
		for _, f := range change {
			f(p)
		}
		return p
	}
	unbound := func(p *corev1.Pod) { p.Spec.NodeName, p.Status.Phase = "", corev1.PodPending }
	ended := func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }
	deleted := func(graceEnds int) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.DeletionTimestamp = new(at(graceEnds)) }
	}
	created := func(seconds int) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.CreationTimestamp = at(seconds) }
	}
	tests := map[string]struct {
		pods    []*corev1.Pod
		want    bool
		requeue time.Duration
		blocked int // since when the node is unavailable
	}{
		"no pod yet":                             {},
		"all have ended":                         {pods: []*corev1.Pod{pod(ended)}},
		"one runs":                               {pods: []*corev1.Pod{pod()}},
		"one terminates, its replacement runs":   {pods: []*corev1.Pod{pod(deleted(100)), pod()}},
		"its grace period runs":                  {pods: []*corev1.Pod{pod(deleted(1100))}, requeue: 160 * time.Second},
		"its grace period has just ended":        {pods: []*corev1.Pod{pod(deleted(941))}, requeue: time.Second},
		"its kubelet doesn't answer":             {pods: []*corev1.Pod{pod(deleted(940))}, want: true},
		"it was just created":                    {pods: []*corev1.Pod{pod(unbound, created(990))}, requeue: 50 * time.Second},
		"it finds no node":                       {pods: []*corev1.Pod{pod(ended), pod(unbound, created(940))}, want: true},
		"it waited before its node was cordoned": {pods: []*corev1.Pod{pod(unbound, created(0))}, blocked: 995, requeue: 55 * time.Second},
		"no answer, the replacement is just new": {pods: []*corev1.Pod{pod(deleted(900)), pod(unbound, created(990))}, requeue: 50 * time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := &observed{}
			p := &pass{job: makeJob(), now: at(1000)}
			assert.Equal(t, tt.want, p.areInterrupted(o, tt.pods, at(tt.blocked)))
			assert.Equal(t, tt.requeue, o.requeueAfter)
		})
	}
}

func TestSinceWhenANodeIsUnavailable(t *testing.T) {
	timed := func(key string, seconds int) func(*corev1.Node) {
		return func(n *corev1.Node) {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule, TimeAdded: new(at(seconds))})
		}
	}
	for name, tt := range map[string]struct {
		node *corev1.Node
		want metav1.Time
	}{
		"a cordon without its taint": {makeNode("n", cordoned), at(1000)},
		"a cordon":                   {makeNode("n", cordoned, timed(corev1.TaintNodeUnschedulable, 900)), at(900)},
		"the oldest taint":           {makeNode("n", timed("b", 950), timed("a", 900), timed("c", 990)), at(900)},
		"a taint of a user":          {makeNode("n", timed("b", 950), tainted("mine", "NoSchedule")), metav1.Time{}},
		"a cordon of a drained node": {makeNode("n", cordoned, timed("b", 950)), at(950)},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.want, (&eligibility{pod: &corev1.PodSpec{}}).blockedSince(tt.node, at(1000)))
		})
	}
}

// A change of the spec doesn't change the tolerations of a Job that waits for room on its node.
func TestAJobIsNotInterruptedByAChangeOfTheSpec(t *testing.T) {
	before := makeJob(func(s *spec) { s.TolerateLikeDaemonSet = true })
	n1, n2 := makeNode("n1", cordoned, tainted(corev1.TaintNodeUnschedulable, "NoSchedule")), makeNode("n2")
	waits, done := onNode(render(before), before, n1), onNode(render(before), before, n2)
	waits.UID = "waits"
	done.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: at(5)}}
	pod := succeededPod(waits)
	pod.CreationTimestamp, pod.Status.Phase = at(0), corev1.PodPending
	after := makeJob(func(s *spec) { s.UnavailableNodes = v1alpha1.UnavailableSkip })
	plan := Plan(after, buildertest.WithWatched(buildertest.NewView(at(1000).Time, waits, done, pod), n1, n2))
	assert.Equal(t, int32(1), plan.Status.Status.Active)
	assert.Nil(t, plan.Status.Status.CompletionTime)
}

// A user who deletes a Job in the foreground has it created again, although it fails by that.
func TestTheFailureOfADeletedJobDoesNotCount(t *testing.T) {
	job := makeJob(oneByOne(v1alpha1.FailurePause, nil))
	node := makeNode("n1")
	own := onNode(render(job), job, node)
	own.UID = "own"
	own.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue}}
	pod := succeededPod(own)
	pod.Status.Phase, pod.DeletionTimestamp = corev1.PodRunning, new(at(30))
	paused := func() bool {
		return Plan(job, buildertest.WithWatched(buildertest.NewView(at(10).Time, own, pod), node)).Status.Status.Paused
	}
	assert.True(t, paused())
	own.DeletionTimestamp = new(at(5))
	assert.False(t, paused())
}
