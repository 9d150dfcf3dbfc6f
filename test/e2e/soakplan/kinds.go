package soakplan

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// QuotaMiniClusters and QuotaPods are the quota of the script's queue.
const (
	QuotaMiniClusters = 2
	QuotaPods         = 4
)

// setup is the queue of the FluxJobs. It is in no namespace, so whoever runs the script gives it a name of its own.
func setup() *Object {
	queue := &v1alpha1.FluxSetup{Spec: v1alpha1.FluxSetupSpec{
		Quota:      v1alpha1.FluxQuota{MiniClusters: ptr.To[int32](QuotaMiniClusters), Pods: ptr.To[int32](QuotaPods)},
		Preemption: v1alpha1.PreemptionLowerPriority, PriorityLimits: []v1alpha1.FluxPriorityLimit{{Max: 1}},
	}}
	queue.Name = "queue"
	return &Object{Story: "queue", Made: queue, Final: queue}
}

// daemonJob draws a DaemonJob and its story.
func (t *telling) daemonJob() *Object {
	job := &v1alpha1.DaemonJob{Spec: v1alpha1.DaemonJobSpec{Template: pod(succeeds(t.IntN(4))), BackoffLimit: ptr.To[int32](tries)}}
	job.Name = t.name
	spec, served := &job.Spec, append([]string(nil), nodes...)
	if t.oneIn(3) {
		served = nodes[1:]
		spec.ExcludeNodeList = nodes[0]
	}
	if t.oneIn(3) {
		spec.Parallelism = new(intstr.FromInt32(int32(1 + t.IntN(2))))
	}
	o := &Object{Story: "DaemonJob", Made: job, Final: job, Expect: everywhere(served, PartSucceeded)}
	bad := served[t.IntN(len(served))]
	// A node of which the Job fails.
	harm := func(policy v1alpha1.FailurePolicy) {
		spec.Template.Spec.Containers[0].Command[2] = fmt.Sprintf("[ $NODE != %s ] || exit %d", bad, Wanted)
		spec.PodFailurePolicy, spec.FailurePolicy = wantedOnly(), policy
	}
	switch t.IntN(8) {
	case 0, 1:
		t.create(o)
	case 2:
		t.suspendAndResume(t.create(o), "")
	case 3:
		spec.Template = pod(forever)
		t.deleted(t.create(o))
	case 4:
		spec.Template, spec.ActiveDeadlineSeconds = pod(forever), new(int64(2+t.IntN(8)))
		o.Story, o.Expect = "DaemonJob with a deadline", Expect{End: Failed, Reason: v1alpha1.ReasonDeadlineExceeded}
		t.create(o)
	case 5:
		harm(v1alpha1.FailureContinue)
		o.Story, o.Expect.End, o.Expect.Parts[bad] = "DaemonJob that fails on "+bad, Failed, Ends{PartFailed}
		t.create(o)
	case 6:
		harm(v1alpha1.FailureFailFast)
		// Whether that cuts off any of the others depends on who is first, and so does the reason.
		o.Story, o.Expect.End = "DaemonJob that fails fast on "+bad, Failed
		for name := range o.Expect.Parts {
			o.Expect.Parts[name] = Ends{PartSucceeded, PartFailed, PartSkipped}
		}
		o.Expect.Parts[bad] = Ends{PartFailed}
		t.create(o)
	case 7:
		harm(v1alpha1.FailurePause)
		o.Story = "DaemonJob that is mended and retried"
		final := job.DeepCopy()
		final.Spec.Retry, final.Spec.Template.Spec.Containers[0].Command[2] = 1, succeeds(1)
		o.Final = final
		t.create(o)
		t.later(o, short, 2*long, Patch, "mend and retry", patchOf(map[string]any{"retry": 1, "template": final.Spec.Template}))
	}
	return o
}

func everywhere(names []string, end PartEnd) Expect {
	expect := Expect{End: Succeeded, Parts: map[string]Ends{}}
	for _, name := range names {
		expect.Parts[name] = Ends{end}
	}
	return expect
}

func (t *telling) plainDaemonJob() *Object {
	job := &v1alpha1.DaemonJob{Spec: v1alpha1.DaemonJobSpec{Template: pod(succeeds(1)), BackoffLimit: ptr.To[int32](tries)}}
	job.Name = t.name
	return t.create(&Object{Story: "DaemonJob of the wave", Made: job, Final: job, Expect: everywhere(nodes, PartSucceeded)})
}

// replicaJob draws a ReplicaJob and its story: a chief and workers.
func (t *telling) replicaJob() *Object {
	job := makeReplicaJob(t.name, 1+t.IntN(3), t.IntN(4))
	worker, chief := job.Spec.ReplicaSpecs[v1alpha1.ReplicaWorker], job.Spec.ReplicaSpecs[v1alpha1.ReplicaChief]
	o := &Object{Story: "ReplicaJob", Made: job, Final: job, Expect: Expect{End: Succeeded}}
	all := &v1alpha1.ReplicaSuccessPolicy{
		Rule: v1alpha1.SuccessAll, ReplicaTypes: []v1alpha1.ReplicaType{v1alpha1.ReplicaChief, v1alpha1.ReplicaWorker},
	}
	say := func(of *v1alpha1.ReplicaSpec, command string) { of.Template.Spec.Containers[0].Command[2] = command }
	switch t.IntN(8) {
	case 0:
		t.create(o)
	case 1:
		t.suspendAndResume(t.create(o), "runPolicy")
	case 2:
		say(&chief, forever)
		t.deleted(t.create(o))
	case 3:
		say(&chief, forever)
		job.Spec.RunPolicy.ActiveDeadlineSeconds = new(int64(2 + t.IntN(8)))
		o.Story, o.Expect = "ReplicaJob with a deadline", Expect{End: Failed, Reason: v1alpha1.ReasonDeadlineExceeded}
		t.create(o)
	case 4:
		say(&chief, fails(t.IntN(3)))
		o.Story, o.Expect.End = "ReplicaJob whose chief fails", Failed
		t.create(o)
	case 5:
		say(&worker, fails(t.IntN(3)))
		worker.RestartPolicy, job.Spec.SuccessPolicy = v1alpha1.RestartExitCode, all
		o.Story, o.Expect.End = "ReplicaJob whose workers fail", Failed
		t.create(o)
	case 6: // 128 and more is tried again
		say(&worker, `[ "$RESTARTS" != 0 ] || exit 130`)
		worker.RestartPolicy, job.Spec.SuccessPolicy = v1alpha1.RestartExitCode, all
		o.Story = "ReplicaJob whose workers fail once"
		t.create(o)
	case 7:
		say(&worker, succeeds(t.IntN(3)))
		job.Spec.SuccessPolicy = all
		o.Story = "ReplicaJob that waits for all"
		t.create(o)
	}
	job.Spec.ReplicaSpecs[v1alpha1.ReplicaWorker], job.Spec.ReplicaSpecs[v1alpha1.ReplicaChief] = worker, chief
	return o
}

func makeReplicaJob(name string, workers, seconds int) *v1alpha1.ReplicaJob {
	job := &v1alpha1.ReplicaJob{Spec: v1alpha1.ReplicaJobSpec{ReplicaSpecs: map[v1alpha1.ReplicaType]v1alpha1.ReplicaSpec{
		v1alpha1.ReplicaChief:  {Template: replica(succeeds(seconds))},
		v1alpha1.ReplicaWorker: {Template: replica(forever), Replicas: new(int32(workers))},
	}}}
	job.Name = name
	return job
}

func (t *telling) plainReplicaJob() *Object {
	job := makeReplicaJob(t.name, 2, 1)
	return t.create(&Object{Story: "ReplicaJob of the wave", Made: job, Final: job, Expect: Expect{End: Succeeded}})
}

// miniCluster draws a MiniCluster and its story.
func (t *telling) miniCluster() *Object {
	cluster := &v1alpha1.MiniCluster{ObjectMeta: metav1.ObjectMeta{Name: t.name}}
	o := &Object{Story: "MiniCluster", Made: cluster, Final: cluster}
	cluster.Spec, o.Expect = t.launcher()
	t.create(o)
	if t.oneIn(3) {
		t.suspendAndResume(o, "")
	}
	return o
}

func (t *telling) plainMiniCluster() *Object {
	cluster := &v1alpha1.MiniCluster{ObjectMeta: metav1.ObjectMeta{Name: t.name}, Spec: launcher(2, succeeds(1), tries)}
	return t.create(&Object{Story: "MiniCluster of the wave", Made: cluster, Final: cluster, Expect: Expect{End: Succeeded}})
}

// launcher draws a cluster that succeeds, however often it is disturbed, or fails, whatever comes first.
func (t *telling) launcher() (v1alpha1.MiniClusterSpec, Expect) {
	size, seconds := int32(1+t.IntN(3)), t.IntN(5)
	if t.oneIn(4) {
		return launcher(size, fails(seconds), 0), Expect{End: Failed}
	}
	return launcher(size, succeeds(seconds), tries), Expect{End: Succeeded}
}

func launcher(size int32, command string, restarts int32) v1alpha1.MiniClusterSpec {
	return v1alpha1.MiniClusterSpec{
		Size: size, BackoffLimit: new(restarts), Flux: v1alpha1.MiniClusterFlux{Disable: true},
		Containers: []v1alpha1.MiniClusterContainer{{Image: "busybox:1.28", Command: command}},
	}
}

// fluxJob draws a FluxJob and its story. A job of a higher priority pushes others out, who begin again.
func (t *telling) fluxJob() *Object {
	spec, expect := t.launcher()
	job := makeFluxJob(t.name, spec)
	job.Spec.Priority = new(int32(t.IntN(2)))
	o := &Object{Story: "FluxJob", Made: job, Final: job, Expect: expect}
	t.create(o)
	switch t.IntN(5) {
	case 0:
		t.suspendAndResume(o, "")
	case 1:
		job.Spec.MiniCluster.Containers[0].Command = forever
		t.deleted(o)
	}
	return o
}

func makeFluxJob(name string, cluster v1alpha1.MiniClusterSpec) *v1alpha1.FluxJob {
	job := &v1alpha1.FluxJob{ObjectMeta: metav1.ObjectMeta{Name: name}}
	job.Spec = v1alpha1.FluxJobSpec{Queue: "queue", Size: new(cluster.Size), BackoffLimit: cluster.BackoffLimit, MiniCluster: &cluster}
	cluster.Size, cluster.BackoffLimit = 0, nil
	return job
}

func (t *telling) plainFluxJob() *Object {
	job := makeFluxJob(t.name, launcher(2, succeeds(1), tries))
	return t.create(&Object{Story: "FluxJob of the wave", Made: job, Final: job, Expect: Expect{End: Succeeded}})
}
