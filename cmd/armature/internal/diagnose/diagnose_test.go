package diagnose

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// TestDiagnose has what can't well be made on a cluster; test/integration/explain has the rest.
func TestDiagnose(t *testing.T) {
	oneNode := []corev1.Node{makeNode("n", nil)}
	claim := func(class *string, phase corev1.PersistentVolumeClaimPhase) map[string]*corev1.PersistentVolumeClaim {
		c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "data"}}
		c.Spec.StorageClassName, c.Status.Phase = class, phase
		return map[string]*corev1.PersistentVolumeClaim{"data": c}
	}
	usesClaim := pending(func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	})
	event := func(reason, message string) map[string]Event {
		return map[string]Event{"data": {Reason: reason, Message: message}}
	}
	scheduled := event("WaitForPodScheduled", "waiting for pod p to be scheduled")
	tests := map[string]struct {
		facts  Facts
		phase  Phase
		reason string
		about  string
		says   string
	}{
		"a flow that is under way": {Facts{Root: makeFlow(nil, makeJob("f-a", nil, nil, makePod("p", nil)))}, Running, "", "JobFlow/f", "it runs: 1 pod"},
		"a pod is starting": {Facts{Root: makeFlow(nil, makeJob("f-a", nil, nil, makePod("p", waiting("ContainerCreating", ""))))}, Starting, "", "JobFlow/f",
			"1 pod is starting, without a problem so far"},
		"a flow between two nodes": {Facts{Root: makeFlow(nil, makeJob("f-a", complete, nil))}, Running, "", "JobFlow/f", "it is active, and has no problem so far"},
		"it waits for what isn't there": {Facts{Root: makeFlow(func(f *v1alpha1.JobFlow) {
			f.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "False", Reason: "Waiting", Message: "waiting for Secret team/tls"}}
		})}, Blocked, "Waiting", "JobFlow/f", "it is waiting for Secret team/tls"},
		"a flow that is seconds old": {Facts{Root: makeFlow(func(f *v1alpha1.JobFlow) {
			f.Status, f.CreationTimestamp = v1alpha1.JobFlowStatus{}, ago(time.Second)
		})}, Starting, "", "JobFlow/f", "it has no problem so far"},
		"the spec was changed and no one looks": {Facts{Root: makeFlow(func(f *v1alpha1.JobFlow) { f.Generation = 2 })}, Blocked, "NoManager", "JobFlow/f", "its status belongs to an older spec"},
		"a queue of another manager": {Facts{Root: made(&v1alpha1.FluxJob{
			ObjectMeta: metav1.ObjectMeta{Name: "fj", Generation: 1}, Status: v1alpha1.FluxJobStatus{ObservedGeneration: 1, Conditions: []metav1.Condition{{
				Type: v1alpha1.ConditionJobWaitingForResources, Status: "True", Reason: v1alpha1.ReasonQueueManagedElsewhere,
				Message: `FluxSetup "q" is managed by ops/a, which watches namespace a`}}},
		}, nil)}, Blocked, "QueueManagedElsewhere", "FluxJob/fj", `it waits in the queue: FluxSetup "q" is managed by ops/a, which watches namespace a`},
		"another controller": {Facts{Root: makeFlow(func(f *v1alpha1.JobFlow) {
			f.Spec.ManagedBy, f.Status = new("example.com/other"), v1alpha1.JobFlowStatus{}
		})}, Blocked, "ManagedElsewhere", "JobFlow/f", "assigns it to example.com/other"},
		"no Job controller": {Facts{Root: makeJob("j", func(j *batchv1.Job) { j.Status.StartTime = nil }, nil)}, Blocked, "NoController", "Job/j", "its status is empty"},

		"undone": {Facts{Root: makeFlow(func(f *v1alpha1.JobFlow) {
			f.Annotations = map[string]string{"armature.dev/paused": "true", "armature.dev/undo": "f-1"}
			f.Status.Conditions = []metav1.Condition{{Type: "Undone", Status: "True", Reason: "Undone", Message: "f-1"}}
		})}, Blocked, "Undone", "JobFlow/f", "its last disruptive change is undone, and it is paused"},
		"undone in vain": {Facts{Root: makeFlow(func(f *v1alpha1.JobFlow) {
			f.Annotations = map[string]string{"armature.dev/undo": "f-1"}
			f.Status.Conditions = []metav1.Condition{{Type: "Undone", Status: "False", Reason: "UndoFailed", Message: "it is gone"}}
		})}, Blocked, "UndoFailed", "JobFlow/f", "isn't undone: it is gone"},
		"a paused Job, which ignores it": {Facts{Root: makeJob("j", func(j *batchv1.Job) {
			j.Annotations = map[string]string{"armature.dev/paused": "true"}
		}, nil, makePod("p", nil))}, Running, "", "Job/j", "it runs: 1 pod"},
		"paused": {Facts{Root: makeFlow(func(f *v1alpha1.JobFlow) {
			f.Annotations = map[string]string{"armature.dev/paused": "true"}
		})}, Blocked, "PausedByAnnotation", "JobFlow/f", `the annotation armature.dev/paused is "true"`},
		"its turn is to come": {Facts{Root: makeFlow(func(f *v1alpha1.JobFlow) {
			f.Status.Conditions = []metav1.Condition{{Type: "Released", Status: "False", Reason: "WaitingForTurn",
				Message: `22222222-20260101T000000Z: Deployment.apps default/f restarts pods`}}
		})}, Blocked, "WaitingForTurn", "JobFlow/f", "which disrupts it: Deployment.apps default/f restarts pods"},
		"two writers": {Facts{Root: makeFlow(func(f *v1alpha1.JobFlow) {
			f.Status.Conditions = []metav1.Condition{{Type: "Contested", Status: "True", Reason: "Contested",
				Message: `Service default/f: spec.type keeps being changed by tidy (Update). Stop one of the two writers, or leave the fields to the other`}}
		})}, Blocked, "Contested", "JobFlow/f", "two writers disagree: Service default/f: spec.type keeps being changed by tidy (Update)"},
		"a quota that wants requests": {Facts{Root: makeJob("j", nil, []Event{warn("FailedCreate", `Error creating: pods "j-x" is forbidden: failed quota: compute: must specify cpu for: main`)})},
			Blocked, "QuotaNeedsRequests", "Job/j", "ResourceQuota compute requires containers to specify cpu for: main"},
		"pod security": {Facts{Root: makeJob("j", nil, []Event{warn("FailedCreate", `Error creating: pods "j-x" is forbidden: violates PodSecurity "restricted:latest": privileged`)})},
			Blocked, "Denied", "Job/j", `it violates PodSecurity "restricted:latest"`},
		"pods that are refused, as the condition has it": {Facts{Root: makeFlow(func(f *v1alpha1.JobFlow) {
			f.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "False", Reason: v1alpha1.ReasonPodsRefused,
				Message: `flow "a" has no pods, since they are refused: violates PodSecurity "restricted:latest": privileged`}}
		}, makeJob("f-a", nil, nil))}, Blocked, "Denied", "JobFlow/f", `it violates PodSecurity "restricted:latest"`},
		"a flow whose pods are refused, as the event has it": {Facts{Root: makeFlow(nil, makeJob("f-a", nil, []Event{warn("FailedCreate", podSecurity)}))},
			Blocked, "Denied", "Job/f-a", `it violates PodSecurity "restricted:latest": privileged (container "main" must not set securityContext.privileged=true)`},
		"a MiniCluster whose pods are refused, as the event has it": {Facts{Root: makeMiniCluster(nil, makeJob("mc", nil, []Event{warn("FailedCreate", podSecurity)}))},
			Blocked, "Denied", "Job/mc", `it violates PodSecurity "restricted:latest": privileged (container "main" must not set securityContext.privileged=true)`},
		"... as the condition has it": {Facts{Root: makeMiniCluster(podsRefusedSince, makeJob("mc", nil, nil))},
			Blocked, "Denied", "MiniCluster/mc", `it violates PodSecurity "restricted:latest": privileged (container "main" must not set securityContext.privileged=true)`},
		"... of which one was made before": {Facts{Root: makeMiniCluster(podsRefusedSince, makeJob("mc", nil, []Event{warn("FailedCreate", podSecurity)}, makePod("mc-0", nil)))},
			Blocked, "Denied", "Job/mc", `it violates PodSecurity "restricted:latest": privileged`},
		"a priority over the limit": {Facts{Root: made(&v1alpha1.FluxJob{
			ObjectMeta: metav1.ObjectMeta{Name: "fj", Generation: 1}, Status: v1alpha1.FluxJobStatus{ObservedGeneration: 1, Conditions: []metav1.Condition{
				{Type: v1alpha1.ConditionJobWaitingForResources, Status: "True", Reason: v1alpha1.ReasonExceedsMaximumQuota, Message: "the size is 9"},
				{Type: v1alpha1.ConditionPriorityLimited, Status: "True", Reason: v1alpha1.ReasonPriorityLimited, Message: "spec.priority is 9"}}},
		}, nil)}, Blocked, "ExceedsMaximumQuota", "FluxJob/fj", "it waits in the queue: the size is 9; spec.priority is 9"},
		"a missing priority class": {Facts{Root: makeJob("j", nil, []Event{warn("FailedCreate", `Error creating: pods "j-x" is forbidden: no PriorityClass with name urgent was found`)})},
			Blocked, "PriorityClassMissing", "Job/j", "there is no PriorityClass urgent"},
		"words that no one knows": {Facts{Root: makeJob("j", nil, []Event{warn("FailedCreate", `Error creating: the moon is full`)})}, Blocked, "Refused", "Job/j", "the moon is full"},
		"what was refused before the pod that runs": {Facts{Root: makeJob("j", nil, []Event{{Type: "Warning", Reason: "FailedCreate", Message: "exceeded quota", Last: now.Add(-time.Hour)}}, makePod("p", nil))},
			Running, "", "Job/j", "it runs"},

		"a full node":                   {Facts{Root: makePod("p", pending(nil)), Nodes: oneNode}, Blocked, "Unschedulable", "Pod/p", "0/1 nodes are available: 1 Insufficient cpu."},
		"who may not read nodes":        {Facts{Root: makePod("p", pending(nil))}, Blocked, "Unschedulable", "Pod/p", "0/1 nodes are available"},
		"no nodes":                      {Facts{Root: makePod("p", pending(nil)), Nodes: []corev1.Node{}}, Blocked, "NoNodes", "Pod/p", "the cluster has no nodes"},
		"a cordoned and a tainted node": {Facts{Root: makePod("p", pending(nil)), Nodes: []corev1.Node{makeNode("a", cordon), makeNode("b", taint)}}, Blocked, "TaintNotTolerated", "Pod/p", "of the 2 matching nodes, a is cordoned; b has the taint dedicated:NoSchedule"},
		"the node is gone":              {Facts{Root: makePod("p", nil), Nodes: []corev1.Node{makeNode("m", nil)}}, Blocked, "NodeLost", "Pod/p", "its node n doesn't exist"},
		"evicted": {Facts{Root: makePod("p", func(p *corev1.Pod) {
			p.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "The node was low on resource: memory."}
		}), Nodes: oneNode}, Failed, "Evicted", "Pod/p", "low on resource: memory"},

		"no default class": {Facts{Root: makePod("p", usesClaim), Claims: claim(nil, corev1.ClaimPending), Classes: []storagev1.StorageClass{}}, Blocked, "ClaimPending", "PersistentVolumeClaim/data", "the cluster has no default StorageClass"},
		"no class wanted":  {Facts{Root: makePod("p", usesClaim), Claims: claim(new(""), corev1.ClaimPending), Classes: []storagev1.StorageClass{}}, Blocked, "ClaimPending", "PersistentVolumeClaim/data", "a manually created PersistentVolume"},
		"a lost volume":    {Facts{Root: makePod("p", usesClaim), Claims: claim(nil, corev1.ClaimLost)}, Blocked, "ClaimLost", "PersistentVolumeClaim/data", "doesn't exist"},
		"provisioning fails": {Facts{Root: makePod("p", usesClaim), Claims: claim(nil, corev1.ClaimPending), ClaimEvents: event("ProvisioningFailed", "failed to provision volume: no space")},
			Blocked, "ClaimPending", "PersistentVolumeClaim/data", "failed to provision volume: no space"},
		"a claim that waits for the pod": {Facts{Root: makePod("p", usesClaim), Claims: claim(nil, corev1.ClaimPending), ClaimEvents: event("WaitForFirstConsumer", "waiting for first consumer to be created before binding")},
			Blocked, "Unschedulable", "Pod/p", "Insufficient cpu"},
		"... to be scheduled": {Facts{Root: makePod("p", usesClaim), Claims: claim(nil, corev1.ClaimPending), ClaimEvents: scheduled},
			Blocked, "Unschedulable", "Pod/p", "Insufficient cpu"},
		"... of an owner that has the claim, too": {Facts{Root: makeDeployment(nil, makeClaim(corev1.ClaimPending), makePod("p", usesClaim)), Claims: claim(nil, corev1.ClaimPending), ClaimEvents: scheduled},
			Blocked, "Unschedulable", "Pod/p", "Insufficient cpu"},
		"... itself": {Facts{Root: makeClaim(corev1.ClaimPending), Claims: claim(nil, corev1.ClaimPending), ClaimEvents: scheduled},
			Blocked, "ClaimPending", "PersistentVolumeClaim/data", "it is pending: waiting for pod p to be scheduled"},

		"an image that may not be pulled": {Facts{Root: makePod("p", waiting("ErrImagePull", "unauthorized: authentication required"))}, Blocked, "ImageForbidden", "Pod/p", "its image app:1 can't be pulled"},
		"an image's name is none":         {Facts{Root: makePod("p", waiting("InvalidImageName", "couldn't parse image name"))}, Blocked, "ImageNameInvalid", "Pod/p", "couldn't parse"},
		"an image that isn't there":       {Facts{Root: makePod("p", waiting("ErrImageNeverPull", ""))}, Blocked, "ImageNotPresent", "Pod/p", "ErrImageNeverPull"},
		"the event knows more": {Facts{Root: makePod("p", waiting("ImagePullBackOff", `Back-off pulling image "app:1"`), warn("Failed", `Failed to pull image "app:1": manifest unknown`))},
			Blocked, "ImageNotFound", "Pod/p", "manifest unknown"},
		"a container that can't be made":               {Facts{Root: makePod("p", waiting("CreateContainerError", "no such device"))}, Blocked, "ContainerNotStarted", "Pod/p", "no such device"},
		"a volume that can't be mounted":               {Facts{Root: makePod("p", waiting("ContainerCreating", ""), warn("FailedMount", "nfs: no route to host"))}, Blocked, "VolumeNotMounted", "Pod/p", "no route to host"},
		"what it said last":                            {Facts{Root: makePod("p", exited(7, "bad config\nline 2"))}, Failed, "ExitCode", "Pod/p", "exited with code 7: bad config"},
		"a sidecar that was stopped after the failure": {Facts{Root: makePod("p", withSidecar(143, 1))}, Failed, "ExitCode", "Pod/p", "container main exited with code 1"},
		"a failure without an exit code of its own":    {Facts{Root: makePod("p", withSidecar(143, 0))}, Failed, "ExitCode", "Pod/p", "init container sidecar exited with code 143"},
		"a readiness gate": {Facts{Root: makePod("p", func(p *corev1.Pod) {
			p.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/lb"}}
		})}, Blocked, "ReadinessGate", "Pod/p", "example.com/lb"},
		"a startup probe": {Facts{Root: makePod("p", func(p *corev1.Pod) {
			p.Spec.Containers[0].StartupProbe = &corev1.Probe{}
			p.Status.ContainerStatuses[0].Ready, p.Status.ContainerStatuses[0].Started = false, new(false)
		}, warn("Unhealthy", "Startup probe failed: refused"))}, Blocked, "StartupProbeFailing", "Pod/p", "Startup probe failed: refused"},

		"a Job that tries again": {Facts{Root: makeJob("j", nil, nil, makePod("p", exited(1, "")))}, Blocked, "ExitCode", "Pod/p", "its Job retries up to 6 times"},
		"a try before":           {Facts{Root: makeJob("j", nil, nil, makePod("p", exited(1, "")), makePod("q", nil))}, Running, "", "Job/j", "it runs"},
		"a Job without pods":     {Facts{Root: makeJob("j", failedJob, nil)}, Failed, "BackoffLimitExceeded", "Job/j", "it has failed: Job has reached the specified backoff limit; 1 pod failed"},
		"a Job that was retried": {Facts{Root: makeFlow(nil, makeJob("f-a", failedJob, nil), makeJob("f-a-r1", nil, nil, makePod("p", nil)))}, Running, "", "JobFlow/f", "it runs"},
		"what failed goes before what waits": {Facts{Root: makeFlow(nil, makeJob("f-a", labelled("a", nil), nil, makePod("p", pending(nil))),
			makeJob("f-b", labelled("b", failedJob), nil, makePod("q", exited(3, ""))))}, Blocked, "ExitCode", "Pod/q", "exited with code 3"},
		"a flow that failed and no more is known": {Facts{Root: makeFlow(func(f *v1alpha1.JobFlow) {
			f.Status.State = v1alpha1.StateFailed
			f.Status.Conditions = []metav1.Condition{{Type: "Failed", Status: "True", Reason: "JobFailed", Message: "a failed"}}
		})}, Failed, "JobFailed", "JobFlow/f", "a failed"},
		"a Deployment that takes too long": {Facts{Root: makeDeployment(func(d *appsv1.Deployment) {
			d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded", Message: "timed out"}}
		})}, Blocked, "ProgressDeadlineExceeded", "Deployment/d", "timed out"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.facts.Now = now
			found := Diagnose(tt.facts)
			assert.Equal(t, tt.phase, found.Phase, "%+v", found)
			assert.Equal(t, tt.reason, found.Reason)
			assert.Equal(t, tt.about, found.Object.String())
			assert.Contains(t, found.Message, tt.says)
			assert.Equal(t, found.Wrong(), found.Next != "", "what is wrong has a next step")
		})
	}
}

// Nobody waits for the pods of a ConfigMap.
func TestKindsWithoutPods(t *testing.T) {
	for _, o := range []*Object{
		made(&corev1.ConfigMap{}, nil), made(&corev1.Service{}, nil), made(&v1alpha1.JobTemplate{}, nil),
	} {
		found := Diagnose(Facts{Now: now, Root: o})
		assert.Equal(t, Running, found.Phase, o.GetKind())
		assert.Equal(t, "it exists, and has no problem; objects of this kind run no pods", found.Message)
	}
	assert.Equal(t, Starting, Diagnose(Facts{Now: now, Root: makeFlow(func(f *v1alpha1.JobFlow) { f.Status.State = "" })}).Phase)
}

// podSecurity is the event of a Job in whose namespace Pod Security refuses the pods.
const podSecurity = `Error creating: pods "x" is forbidden: violates PodSecurity "restricted:latest": privileged ` +
	`(container "main" must not set securityContext.privileged=true)`

// makeMiniCluster returns a MiniCluster that its operator has seen, and that starts.
func makeMiniCluster(change func(*v1alpha1.MiniCluster), owned ...*Object) *Object {
	c := &v1alpha1.MiniCluster{ObjectMeta: metav1.ObjectMeta{Name: "mc", Generation: 1}}
	c.Status.State, c.Status.ObservedGeneration = v1alpha1.MiniClusterStateStarting, 1
	if change != nil {
		change(c)
	}
	return made(c, nil, owned...)
}

// podsRefusedSince gives a MiniCluster the condition that its operator derives from the event.
func podsRefusedSince(c *v1alpha1.MiniCluster) {
	c.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "False", Reason: v1alpha1.ReasonPodsRefused,
		Message: "0 of 2 pods are ready; pods are refused: " + podSecurity}}
}

func cordon(n *corev1.Node) {
	n.Spec.Unschedulable = true
	n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
}

func taint(n *corev1.Node) {
	n.Spec.Taints = []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}}
}

// The state of a failed pod is that of the container that failed, as in its finding.
func TestStateOfAFailedPodWithASidecar(t *testing.T) {
	assert.Equal(t, "Failed, exit code 1", StateOf(makePod("p", withSidecar(143, 1))))
	assert.Equal(t, "Succeeded", StateOf(makePod("p", func(p *corev1.Pod) {
		withSidecar(143, 0)(p)
		p.Status.Phase = corev1.PodSucceeded
	})))
}

// withSidecar is a pod that failed with an exit code, and whose sidecar the kubelet stopped afterwards.
func withSidecar(sidecar, main int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		exited(main, "")(p)
		p.Spec.InitContainers = []corev1.Container{{Name: "sidecar", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}}
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{
			Name: "sidecar", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: sidecar, Reason: "Error"}},
		}}
	}
}

// labelled makes a Job that of a node of a flow.
func labelled(node string, change func(*batchv1.Job)) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Labels = map[string]string{"api.practice.com/flow": node}
		if change != nil {
			change(j)
		}
	}
}

// TestPathLeadsToTheObject: whatever the states of pods, the way begins at what was asked for and ends at what is told of, and the
// sentence has no line breaks.
func TestPathLeadsToTheObject(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		states := []func(*corev1.Pod){
			nil, pending(nil), exited(1, "first\nsecond"), exited(137, ""), waiting("ImagePullBackOff", ""), waiting("CrashLoopBackOff", "back-off"), waiting("ContainerCreating", ""),
			func(p *corev1.Pod) { p.Status.ContainerStatuses = nil }, func(p *corev1.Pod) { p.Status = corev1.PodStatus{} },
			func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded },
		}
		var jobs []*Object
		for range rapid.IntRange(0, 4).Draw(t, "jobs") {
			var pods []*Object
			for range rapid.IntRange(0, 3).Draw(t, "pods") {
				pods = append(pods, makePod("p", states[rapid.IntRange(0, len(states)-1).Draw(t, "state")]))
			}
			jobs = append(jobs, makeJob("j", rapid.SampledFrom([]func(*batchv1.Job){nil, failedJob}).Draw(t, "job"), nil, pods...))
		}
		found := Diagnose(Facts{Now: now, Root: makeFlow(nil, jobs...)})
		require.NotEmpty(t, found.Path)
		assert.Equal(t, "JobFlow/f", found.Path[0].String())
		assert.Equal(t, found.Object, found.Path[len(found.Path)-1].Ref)
		assert.Equal(t, found.Wrong(), found.Reason != "")
		assert.NotContains(t, found.Message, "\n")
		kinds := []string{"JobFlow", "Job", "Pod"}
		for i, step := range found.Path {
			assert.Equal(t, i, slices.Index(kinds, step.Kind))
		}
	})
}

// complete lets a Job have succeeded.
func complete(j *batchv1.Job) {
	j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
}
