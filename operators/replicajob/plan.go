package replicajob

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

const (
	// soon is how long the pass that acts on what this one records is put off.
	soon = time.Millisecond
	// countsCanWait is how long news of counts alone may be put off, so that a thousand pods that come and go cost a few
	// status writes.
	countsCanWait = 5 * time.Second
	// batch is how many pods one pass makes or deletes, so that a pass of a large job doesn't keep others waiting.
	batch = 1000
)

// Plan says which pods, Services and pod groups a job should have now, and what its status is. It is a
// [builder.PlanFunc]. Kubeflow called it ReconcileJobs.
//
// Invariant: the plan deletes a pod only after an earlier pass has recorded its end. So a crash between two writes loses
// no restart, and no outcome.
func (k Kind[T]) Plan(obj T, seen builder.View) builder.Plan[T] {
	j := k.jobOf(obj, seen)
	if obj.GetDeletionTimestamp() != nil || !lifecycle.IsOurs(j.spec.RunPolicy.ManagedBy) {
		return builder.Plan[T]{}
	}
	d := j.decide(seen)
	plan := builder.Plan[T]{
		Children: d.children, Delete: d.delete, Edits: d.edits, Prune: d.prune, DeleteOwner: d.expired,
		Events: d.events, RequeueAfter: d.requeue,
	}
	if len(d.children) > 0 {
		plan.Finish = func(after T, res builder.Result) { j.tellWaiting(after.Conditions(), res.Waiting) }
	}
	if d.status != nil && !equality.Semantic.DeepEqual(d.status, j.was) {
		plan.Status = obj.DeepCopyObject().(T)
		*k.Status(plan.Status) = *d.status
		if !d.records && !isTransition(j.was, d.status) {
			plan.StatusCanWait = countsCanWait
		}
	}
	return plan
}

// decision is a plan for a job of any kind.
type decision struct {
	children []builder.Child
	delete   []client.Object
	edits    []builder.Edit
	prune    []client.Object
	status   *v1alpha1.ReplicaJobStatus // nil: it stays
	records  bool                       // the status has what a next pass acts on
	expired  bool
	events   []events.Event
	requeue  time.Duration
}

// decide goes through what can be the matter with a job, in the order of precedence.
func (j *job) decide(seen builder.View) decision {
	pods := builder.Owned[*corev1.Pod](seen)
	if j.was.CompletionTime != nil {
		return j.over(pods)
	}
	r := j.gather(pods)
	if problem := j.validate(); problem != nil {
		return j.refuse(problem, r)
	}
	switch {
	case j.spec.RunPolicy.Suspend:
		return j.suspend(r)
	case j.isSuspended():
		return j.resume(r)
	case j.was.StartTime == nil:
		return j.start(r)
	}
	failures := j.failures(r)
	switch v := j.judge(r, j.jury(r), failures); {
	case v.kind == hasSucceeded || v.kind == hasFailed:
		return j.end(r, v)
	case v.kind == restartsAll && v.left == 0:
		return j.restartAll(r, v)
	default:
		return j.carryOn(r, failures, v, seen)
	}
}

// start records that the job starts now. Its pods are made in the next pass: a deadline runs from a start that is known.
func (j *job) start(r *roster) decision {
	s := j.was.DeepCopy()
	s.StartTime = j.now.DeepCopy()
	j.tellCounts(s, r)
	j.tellGoingOn(s, r, "")
	return decision{status: s, records: true, requeue: soon, events: j.transitions(s, nil)}
}

// end records a verdict. Pods are cleaned up in the next pass: they are what the verdict was made of.
func (j *job) end(r *roster, v verdict) decision {
	s := j.was.DeepCopy()
	j.tellCounts(s, r)
	j.tellEnd(s, v)
	return decision{status: s, records: true, requeue: soon, events: j.transitions(s, v.culprit)}
}

// restartAll records that the whole job restarts. Pods that are labelled with an earlier attempt are deleted from the
// next pass on.
func (j *job) restartAll(r *roster, v verdict) decision {
	s := j.was.DeepCopy()
	j.tellCounts(s, r)
	s.Restarts++
	s.TotalRestarts++
	if v.culprit.action == v1alpha1.FailureRestartJob {
		s.RestartsTowardsMax++
	}
	for name, rs := range s.ReplicaStatuses {
		rs.Pending += rs.Active + rs.Succeeded + rs.Failed
		rs.Active, rs.Succeeded, rs.Failed = 0, 0, 0
		rs.SucceededIndexes, rs.ReplicaRestarts = "", nil
		s.ReplicaStatuses[name] = rs
	}
	j.tellRestarting(s, v.reason, v.message)
	return decision{status: s, records: true, requeue: soon, events: j.transitions(s, v.culprit)}
}

// carryOn makes what is missing and deletes what is too much. If the whole job is about to restart, no replica is made
// again by itself.
func (j *job) carryOn(r *roster, failures []failure, v verdict, seen builder.View) decision {
	if v.kind == restartsAll {
		failures = nil
	}
	d := decision{status: j.was.DeepCopy(), edits: release(r.strays), prune: j.prunable()}
	d.records = record(failures)
	j.tellCounts(d.status, r)
	j.tellGoingOn(d.status, r, restarting(failures))
	d.events = j.transitions(d.status, firstOf(failures))

	d.children = append(d.children, j.services(r)...)
	group := j.gang(r, seen)
	d.children = append(d.children, group.children...)
	d.requeue = lifecycle.Soonest(v.left,
		lifecycle.Deadline(j.was.StartTime, j.spec.RunPolicy.ActiveDeadlineSeconds, j.now.Time).Left)
	if d.records {
		d.requeue = soon
	}

	goners := append(alive(r.surplus), alive(r.old)...)
	for i := range failures {
		f := &failures[i]
		if !f.restartsReplica() || !f.isRecorded() {
			continue
		}
		if left := f.left(f.slot.before(), j.now.Time); left > 0 {
			d.requeue = lifecycle.Soonest(d.requeue, left)
		} else {
			goners = append(goners, f.slot.pod)
		}
	}
	d.deletes(goners)
	if !group.mayStart || j.isBlocked(r) || v.kind == restartsAll {
		return d
	}
	d.creates(j.missing(r))
	return d
}

// isBlocked reports whether no pod may be made before the old attempt's are gone.
func (j *job) isBlocked(r *roster) bool {
	policy := j.spec.FailurePolicy
	return len(r.old) > 0 && policy != nil && policy.RestartStrategy == v1alpha1.RestartBlockingRecreate
}

// missing returns the pods to be made: of each index that has none, if what its type depends on is far enough.
func (j *job) missing(r *roster) []*corev1.Pod {
	var pods []*corev1.Pod
	for _, t := range r.teams {
		first := true
		for i := range t.slots {
			if t.slots[i].state != missing {
				continue
			}
			if first && !r.mayStart(t) {
				break
			}
			first = false
			if pods = append(pods, j.render(t, i)); len(pods) > batch {
				return pods
			}
		}
	}
	return pods
}

// creates adds pods to be made: at most a batch of them, and the rest in the next pass.
func (d *decision) creates(pods []*corev1.Pod) {
	if len(pods) > batch {
		pods, d.requeue = pods[:batch], soon
	}
	for _, pod := range pods {
		d.children = append(d.children, wantPod(pod))
	}
}

// deletes adds pods to be deleted: at most a batch of them, and the rest in the next pass.
func (d *decision) deletes(pods []*corev1.Pod) {
	if len(pods) > batch {
		pods, d.requeue = pods[:batch], soon
	}
	for _, pod := range pods {
		d.delete = append(d.delete, pod)
	}
}

// alive returns the pods that nobody has deleted yet.
func alive(pods []*corev1.Pod) []*corev1.Pod {
	var all []*corev1.Pod
	for _, pod := range pods {
		if pod.DeletionTimestamp == nil {
			all = append(all, pod)
		}
	}
	return all
}
