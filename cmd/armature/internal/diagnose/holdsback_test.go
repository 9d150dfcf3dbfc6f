package diagnose

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// makeDaemons returns a DaemonJob that its operator has seen.
func makeDaemons(change func(*v1alpha1.DaemonJob), owned ...*Object) *Object {
	d := &v1alpha1.DaemonJob{ObjectMeta: metav1.ObjectMeta{Name: "dj", Generation: 1}}
	d.Status.State, d.Status.ObservedGeneration = v1alpha1.StateRunning, 1
	change(d)
	return made(d, nil, owned...)
}

// makeQueued returns a FluxJob that waits for a reason.
func makeQueued(reason, message string) *Object {
	return made(&v1alpha1.FluxJob{ObjectMeta: metav1.ObjectMeta{Name: "fj", Generation: 1}, Status: v1alpha1.FluxJobStatus{
		State: v1alpha1.FluxJobWaiting, ObservedGeneration: 1, Position: new(int32(2)),
		Conditions: []metav1.Condition{{Type: v1alpha1.ConditionJobWaitingForResources, Status: "True", Reason: reason, Message: message}},
	}}, nil)
}

func pausedQueue() *v1alpha1.FluxSetup {
	return &v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: "q", Annotations: map[string]string{"armature.dev/paused": "true"}}}
}

// makeGroup returns a pod group of a gang scheduler.
func makeGroup(apiVersion string, status map[string]any) *Object {
	u := &unstructured.Unstructured{Object: map[string]any{"status": status, "spec": map[string]any{"queue": "q"}}}
	u.SetAPIVersion(apiVersion)
	u.SetKind("PodGroup")
	u.SetNamespace("team")
	u.SetName("rj")
	u.SetCreationTimestamp(ago(time.Minute))
	return NewObject(u, nil)
}

func makeReplicas(change func(*v1alpha1.ReplicaJob), owned ...*Object) *Object {
	r := &v1alpha1.ReplicaJob{ObjectMeta: metav1.ObjectMeta{Name: "rj", Generation: 1}}
	r.Status.State, r.Status.ObservedGeneration = v1alpha1.ReplicaJobCreated, 1
	if change != nil {
		change(r)
	}
	return made(r, nil, owned...)
}

// deleted lets an object be on its way out, with finalizers.
func deleted(o *Object, finalizers ...string) *Object {
	at := ago(time.Minute)
	o.SetDeletionTimestamp(&at)
	o.SetFinalizers(finalizers)
	return NewObject(o.Unstructured, o.Events, o.Owned...)
}

// TestHoldsBack: what someone or something holds back, and the way on.
func TestHoldsBack(t *testing.T) {
	because := func(reason, message string) []metav1.Condition {
		return []metav1.Condition{{Type: "Ready", Status: "False", Reason: reason, Message: message}}
	}
	endedSuspended := func(state v1alpha1.State, kind string) func(*v1alpha1.JobFlow) {
		return func(f *v1alpha1.JobFlow) {
			at := ago(time.Minute)
			f.Spec.Suspend, f.Status.State, f.Status.CompletionTime = true, state, &at
			f.Status.Conditions = []metav1.Condition{{Type: kind, Status: "True", Reason: "JobFailed", Message: "a failed"}}
		}
	}
	onNode := pending(func(p *corev1.Pod) { p.Spec.NodeName, p.Status.Conditions = "nosuch", nil })
	wants := func(key string) func(*corev1.Pod) {
		return pending(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{key: "nosuch"} })
	}
	bound := pending(func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{"nosuch"}}}}},
		}}}
	})
	oneNode := []corev1.Node{makeNode("n", nil)}
	volcano, schedulerPlugins := "scheduling.volcano.sh/v1beta1", "scheduling.x-k8s.io/v1alpha1"
	condition := func(kind, status, reason, message string) map[string]any {
		return map[string]any{"phase": "Pending", "conditions": []any{map[string]any{"type": kind, "status": status, "reason": reason, "message": message}}}
	}
	for name, tt := range map[string]struct {
		facts  Facts
		phase  Phase
		reason string
		says   string
		next   string
		not    string // what neither of them says
	}{
		"a DaemonJob that has paused": {Facts{Root: makeDaemons(func(d *v1alpha1.DaemonJob) {
			d.Status.Paused, d.Status.Conditions = true, because("Paused", "1 of 3 nodes succeeded, 1 failed, 1 to come; to run the failed nodes again and go on, set retry to 1; "+
				"to go on without them, set failurePolicy to Continue: n failed: BackoffLimitExceeded")
		}, makeJob("dj-n", failedJob, nil, makePod("p", exited(3, ""))))}, Blocked, "Paused",
			"it has paused: 1 of 3 nodes succeeded, 1 failed, 1 to come: n failed: BackoffLimitExceeded; Pod/p: container main exited with code 3",
			`armature retry daemonjob/dj -n team runs the failed nodes again and continues; to continue without them: kubectl patch daemonjob/dj -n team --type=merge -p '{"spec":{"failurePolicy":"Continue"}}'`, ""},
		"... and counts failures": {Facts{Root: makeDaemons(func(d *v1alpha1.DaemonJob) {
			d.Spec.MaxFailures = new(intOf(1))
			d.Status.Paused, d.Status.Conditions = true, because("Paused", "1 of 3 nodes succeeded, 1 failed; to run the failed nodes again and go on, set retry to 1")
		})}, Blocked, "Paused", "it has paused: 1 of 3 nodes succeeded, 1 failed", `'{"spec":{"failurePolicy":"Continue","maxFailures":null}}'`, ""},

		"a suspended flow that has failed":    {Facts{Root: makeFlow(endedSuspended(v1alpha1.StateFailed, "Failed"))}, Failed, "JobFailed", "a failed", "armature retry", "resume"},
		"a suspended flow that has succeeded": {Facts{Root: makeFlow(endedSuspended(v1alpha1.StateSucceed, "Succeeded"))}, Succeeded, "", "it has succeeded", "", "resume"},

		"foreground deletion": {Facts{Root: deleted(makeFlow(nil, makeJob("f-a", nil, nil, makePod("p", nil))), "foregroundDeletion")}, Blocked, "Deleting",
			"it is being deleted, and is removed after its children: Job/f-a", "wait", "finalizers"},
		"... that someone's finalizer holds up": {Facts{Root: deleted(makeFlow(nil, deleted(makeJob("f-a", nil, nil), "foregroundDeletion", "example.com/hold")), "foregroundDeletion")},
			Blocked, "Deleting", "remains until the controllers of these finalizers remove them: example.com/hold", "example.com/hold", "foregroundDeletion"},
		"... of a pod whose node is gone": {Facts{Root: deleted(makeFlow(nil, deleted(makeJob("f-a", nil, nil, deleted(makePod("p", nil))), "foregroundDeletion")), "foregroundDeletion"), Nodes: []corev1.Node{makeNode("m", nil)}},
			Blocked, "NodeLost", "its node n doesn't exist", "kubectl delete pod p -n team", "foregroundDeletion"},
		"someone's finalizer": {Facts{Root: deleted(makeFlow(nil), "example.com/hold")}, Blocked, "Deleting", "remains until the controllers of these finalizers remove them: example.com/hold", "check that", "by hand"},
		"a claim in use":      {Facts{Root: deleted(makeClaim(corev1.ClaimBound), "kubernetes.io/pvc-protection")}, Blocked, "Deleting", "is removed once no pod uses it", "kubectl describe pvc data -n team", "finalizers"},

		"a Job that may make no pods": {Facts{Root: makeFlow(nil, makeJob("f-a", func(j *batchv1.Job) { j.Spec.Parallelism = new(int32(0)) }, nil))}, Blocked, "NoParallelism",
			"it creates no pods: spec.parallelism is 0", "jobTemplate.parallelism", ""},
		"a Job that someone stopped": {Facts{Root: makeJob("j", func(j *batchv1.Job) { j.Spec.Parallelism = new(int32(0)) }, nil)}, Blocked, "NoParallelism",
			"it creates no pods: spec.parallelism is 0", `kubectl patch job/j -n team -p '{"spec":{"parallelism":1}}'`, ""},

		"another controller's replicas": {Facts{Root: makeReplicas(func(r *v1alpha1.ReplicaJob) {
			r.Spec.RunPolicy.ManagedBy, r.Status = new("kueue.x-k8s.io/multikueue"), v1alpha1.ReplicaJobStatus{}
		})}, Blocked, "ManagedElsewhere", "spec.runPolicy.managedBy assigns it to kueue.x-k8s.io/multikueue", "check that kueue.x-k8s.io/multikueue runs", ""},

		"Volcano's queue is full": {Facts{Root: makeReplicas(nil, makeGroup(volcano, map[string]any{"phase": "Pending"}), makePod("p", pending(nil)))}, Blocked, "GangPending",
			"its scheduler has not admitted the pod group: it is Pending in queue q", "kubectl describe queues.scheduling.volcano.sh q", ""},
		"Volcano finds no nodes": {Facts{Root: makeReplicas(nil, makeGroup(volcano, condition("Unschedulable", "True", "NotEnoughResources", "2/2 tasks in gang unschedulable: pod group is not ready")), makePod("p", pending(nil)))},
			Blocked, "GangUnschedulable", "its pods can't be scheduled together: NotEnoughResources: 2/2 tasks in gang unschedulable", "kubectl describe podgroup.v1beta1.scheduling.volcano.sh rj -n team", ""},
		"Volcano has found nodes": {Facts{Root: makeReplicas(nil, makeGroup(volcano, map[string]any{"phase": "Running", "conditions": []any{
			map[string]any{"type": "Unschedulable", "status": "True", "reason": "NotEnoughResources"}}}), makePod("p", nil))}, Running, "", "it runs", "", ""},
		"another gang scheduler waits": {Facts{Root: makeReplicas(nil, makeGroup(schedulerPlugins, map[string]any{"phase": "Pending"}), makePod("p", nil))}, Running, "", "it runs", "", ""},

		"all replicas are 0": {Facts{Root: makeReplicas(func(r *v1alpha1.ReplicaJob) {
			r.Spec.ReplicaSpecs = map[v1alpha1.ReplicaType]v1alpha1.ReplicaSpec{"Master": {Replicas: new(int32(0))}, "Worker": {Replicas: new(int32(0))}}
		})}, Blocked, "NoReplicas", "it has no replicas: replicas is 0 in spec.replicaSpecs.Master and spec.replicaSpecs.Worker", "kubectl edit replicajob/rj -n team", ""},
		"some replicas are 0": {Facts{Root: makeReplicas(func(r *v1alpha1.ReplicaJob) {
			r.Spec.ReplicaSpecs = map[v1alpha1.ReplicaType]v1alpha1.ReplicaSpec{"Master": {}, "Worker": {Replicas: new(int32(0))}}
		})}, Starting, "", "it has no problem so far", "", ""},

		"in line": {Facts{Root: makeQueued(v1alpha1.ReasonQueued, "it is the job's turn soon")}, Waiting, "Queued", "it waits in the queue at position 2: it is the job's turn soon", "armature queue", ""},
		"in Kueue's queue": {Facts{Root: func() *Object {
			o := makeQueued(v1alpha1.ReasonQueued, "the Job waits for Kueue")
			o.SetLabels(map[string]string{kueueQueue: "team"})
			return o
		}()}, Starting, "", "it has no problem so far", "", ""},
		"a full record": {Facts{Root: makeQueued(v1alpha1.ReasonReservationsFull, "the status is full")}, Waiting, "ReservationsFull",
			"it waits in the queue at position 2: the status is full", "divide the FluxSetup", ""},
		"a full queue":    {Facts{Root: makeQueued(v1alpha1.ReasonWaitingForQuota, "no room")}, Waiting, "WaitingForQuota", "it waits in the queue at position 2: no room", "armature queue", ""},
		"behind others":   {Facts{Root: makeQueued(v1alpha1.ReasonBlockedByHeadOfQueue, "x is first")}, Waiting, "BlockedByHeadOfQueue", "it waits in the queue", "armature queue", ""},
		"others make way": {Facts{Root: makeQueued(v1alpha1.ReasonPreempting, "x goes")}, Waiting, "Preempting", "it waits in the queue", "armature queue", ""},
		"a paused queue": {Facts{Root: makeQueued(v1alpha1.ReasonQueued, "soon"), Queue: pausedQueue()}, Blocked, "QueuePaused",
			`it waits in the queue: FluxSetup "q" is paused, and admits no job`, "armature unpause fluxsetup/q", "its turn"},
		"a paused queue and a job that is too large": {Facts{Root: makeQueued(v1alpha1.ReasonExceedsMaximumQuota, "too large"), Queue: pausedQueue()},
			Blocked, "ExceedsMaximumQuota", "too large", "request less", "paused"},
		"never its turn": {Facts{Root: makeQueued(v1alpha1.ReasonExceedsMaximumQuota, "too large")}, Blocked, "ExceedsMaximumQuota", "too large", "request less", ""},

		"a nodeName that doesn't exist": {Facts{Root: makePod("p", onNode), Nodes: oneNode}, Blocked, "NodeNotFound", "there is no node nosuch, which its spec.nodeName names", "kubectl get nodes", "delete"},
		"... whose pods are gone": {Facts{Root: makeJob("j", func(j *batchv1.Job) {
			failedJob(j)
			j.Spec.Template.Spec.NodeName = "nosuch"
		}, nil), Nodes: oneNode}, Failed, "NodeNotFound", "there is no node nosuch, which its pod template names", "kubectl get nodes", "run it again"},
		"a hostname that doesn't exist": {Facts{Root: makePod("p", wants("kubernetes.io/hostname")), Nodes: oneNode}, Blocked, "NodeNotFound", "there is no node nosuch", "correct the node's name", "label a node"},
		"a pod bound to no node":        {Facts{Root: makePod("p", bound), Nodes: oneNode}, Blocked, "NodeNotFound", "there is no node nosuch", "correct the node's name", "label a node"},
		"a DaemonJob for a node that doesn't exist": {Facts{Root: makeDaemons(func(d *v1alpha1.DaemonJob) {
			d.Spec.GlobalParams.NodeName, d.Status.Conditions = "nosuch", because("NoMatchingNodes", "waiting for a node: there is none that the template selects")
		}), Nodes: oneNode}, Blocked, "NodeNotFound", "there is no node nosuch, which spec.globalParams.nodeName names", "kubectl get nodes", "labels"},

		"no such command":      {Facts{Root: makePod("p", exited(127, ""))}, Failed, "ExitCode", "exited with code 127: a command was not found", "correct command and args of container main in the pod template, or its image", ""},
		"no executable":        {Facts{Root: makePod("p", exited(126, ""))}, Failed, "ExitCode", "exited with code 126: a command could not be executed", "correct command and args of container main", ""},
		"it couldn't be begun": {Facts{Root: makePod("p", exited(128, `exec: "nosuch": executable file not found in $PATH`))}, Failed, "ExitCode", "executable file not found", "correct command and args", "see why in its logs"},

		"nodes that are cordoned": {Facts{Root: makeDaemons(func(d *v1alpha1.DaemonJob) {
			d.Status.Conditions = because("NodesUnavailable", "0 of 1 node succeeded, 1 waiting (fake-0 is cordoned)")
		}), Nodes: []corev1.Node{makeNode("fake-0", cordon)}}, Blocked, "NodesUnavailable", "1 waiting (fake-0 is cordoned)", "uncordon", "cordoned: fake-0"},

		"someone else's object": {Facts{Root: makeFlow(func(f *v1alpha1.JobFlow) {
			f.Status.Conditions = because("NotOwned", "apply Job.batch team/f-a: not owned: it has no controller; delete or rename that object, or give the owner another name")
		})}, Blocked, "NotOwned", "apply Job.batch team/f-a: not owned: it has no controller", "give this one another name", "the owner"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.facts.Now = now
			found := Diagnose(tt.facts)
			assert.Equal(t, tt.phase, found.Phase, "%+v", found)
			assert.Equal(t, tt.reason, found.Reason)
			assert.Contains(t, found.Message, tt.says)
			assert.Contains(t, found.Next, tt.next)
			if tt.not != "" {
				assert.NotContains(t, found.Message+found.Next, tt.not)
			}
			assert.Equal(t, tt.phase == Failed || tt.phase == Blocked, found.Wrong())
			seen := map[Ref]bool{}
			for _, step := range found.Path {
				assert.False(t, seen[step.Ref], "%s is on the way twice", step.Ref)
				seen[step.Ref] = true
			}
		})
	}
}

// namespaced finds commands about objects in a namespace.
var namespaced = regexp.MustCompile(`kubectl (?:get|describe|logs|edit|patch|delete|create|scale) (?:pvc|pod|pods|resourcequota|serviceaccount|jobtemplates|workloads|[a-z]+/)|armature (?:resume|retry|explain)`)

// TestNextNamesTheNamespace: what one is told to type is about the object's namespace, whatever one's own is.
func TestNextNamesTheNamespace(t *testing.T) {
	refused := func(message string) *Object { return makeJob("j", nil, []Event{warn("FailedCreate", message)}) }
	queue := made(&v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: "q", Generation: 1}, Status: v1alpha1.FluxSetupStatus{
		ObservedGeneration: 1, Conditions: []metav1.Condition{{Type: "Ready", Status: "False", Reason: "InvalidSpec", Message: "spec.quota"}},
	}}, nil)
	queue.SetNamespace("")
	usesClaim := pending(func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	})
	unbound := map[string]*corev1.PersistentVolumeClaim{"data": {ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "data"}}}
	for name, facts := range map[string]Facts{
		"quota":           {Root: refused("exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0")},
		"service account": {Root: refused(`error looking up service account team/x: serviceaccount "x" not found`)},
		"forbidden":       {Root: refused(`User "u" cannot create resource "pods" in API group "" in the namespace "team"`)},
		"claim":           {Root: makePod("p", usesClaim), Claims: unbound},
		"missing claim":   {Root: makePod("p", usesClaim), Claims: map[string]*corev1.PersistentVolumeClaim{}},
		"exit code":       {Root: makePod("p", exited(3, ""))},
		"node lost":       {Root: makePod("p", nil), Nodes: []corev1.Node{}},
		"invalid": {Root: makeFlow(func(f *v1alpha1.JobFlow) {
			f.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "False", Reason: "InvalidSpec"}}
		})},
		"suspended": {Root: makeFlow(func(f *v1alpha1.JobFlow) { f.Spec.Suspend = true })},
		"queue":     {Root: queue},
	} {
		t.Run(name, func(t *testing.T) {
			facts.Now = now
			found := Diagnose(facts)
			assert.NotEmpty(t, found.Next, "%+v", found)
			assert.NotRegexp(t, `-n( |$|[:;,])( |$)?[^a-z]*$`, found.Next)
			if name != "queue" && namespaced.MatchString(found.Next) {
				assert.Contains(t, found.Next, " -n team")
			}
			if name == "queue" {
				assert.NotContains(t, found.Next, "-n")
			}
			if name == "forbidden" {
				assert.Contains(t, found.Next, "-n team")
			}
		})
	}
}

// A queue's name is any text, and users copy the next step into a shell.
func TestNextHasNoCommandWithTextOfOthers(t *testing.T) {
	const volcano = "scheduling.volcano.sh/v1beta1"
	for _, status := range []map[string]any{{}, {"phase": "Pending"}} {
		group := makeGroup(volcano, status)
		for queue, want := range map[string]string{"team-a": "kubectl describe queues.scheduling.volcano.sh team-a", "a; rm -rf ~": ""} {
			require.NoError(t, unstructured.SetNestedField(group.Object, queue, "spec", "queue"))
			found := Diagnose(Facts{Now: now, Root: group})
			assert.Equal(t, "GangPending", found.Reason)
			if want != "" {
				assert.Contains(t, found.Next, want)
			} else {
				assert.NotContains(t, found.Next, "kubectl")
			}
		}
	}
}
