package daemonjob

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/hostlist"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/message"
	"github.com/armature-dev/armature/operators/internal/names"
	"github.com/armature-dev/armature/operators/internal/outcome"
	"github.com/armature-dev/armature/operators/internal/refusal"
)

// observed has what a pass reads: the state of each node that a job is for, from the view and the recorded status. A node is in exactly
// one of pending, blocked, running, succeeded and failed, or is counted in terminating. A node that is gone is in none.
type observed struct {
	template *batchv1.Job    // of the nodes' Jobs
	problems field.ErrorList // of the spec

	pending     []*corev1.Node // no Job yet, and can take one
	blocked     []blocker      // can't take a pod for the time being, and has no Job, or with unavailableNodes Skip an interrupted one
	running     []run          // the Job hasn't ended
	terminating int            // nodes that can take a Job once a former Job is gone or its pods have ended
	succeeded   []string
	failed      []string

	leftover []blocker // of terminating: nodes that wait for a pod that a deleted Job has left
	resuming []blocker // of running: nodes whose suspended Job waits for a pod before it is resumed
	refused  *blocker  // of running: the first node, by name, whose pods the API server refuses

	failing         []blocker // of running: nodes whose Job is certain to fail, once its pods have ended
	interrupted     []blocker // of running: unavailable nodes on which none of their Job's pods can run
	interruptedJobs int       // of blocked: nodes that have a Job

	newFailures  []failure       // not recorded yet
	changed      bool            // an end isn't recorded yet, or a recorded one no longer holds
	lastEnd      *metav1.Time    // of the Jobs that still exist
	stale        []client.Object // former Jobs, and Jobs of nodes that are gone, to be deleted
	requeueAfter time.Duration   // 0: the next pass comes when something changes
	pods         outcome.ByJob   // of existing Jobs
}

// blocker is what a node waits for.
type blocker struct{ node, reason string }

func (b blocker) String() string { return b.node + " " + b.reason }

// run is a node's Job.
type run struct {
	node    string
	job     *batchv1.Job
	failing *outcome.Outcome // how it will fail, once its pods have ended; nil if it may succeed
}

// isSuspended reports whether the Job is suspended.
func (r run) isSuspended() bool { return ptr.Deref(r.job.Spec.Suspend, false) }

// failure is a node's failure that isn't recorded yet.
type failure struct {
	v1alpha1.NodeFailure
	job *batchv1.Job
}

func (o *observed) active() int { return len(o.running) + o.terminating }

func (o *observed) ended() int { return len(o.succeeded) + len(o.failed) }

// started returns the number of nodes that have a Job, or have had one. Leftover pods don't count: they may be those of a former DaemonJob
// of the name.
func (o *observed) started() int { return o.active() + o.interruptedJobs + o.ended() - len(o.leftover) }

func (o *observed) desired() int { return len(o.pending) + len(o.blocked) + o.active() + o.ended() }

// suspended returns the number of suspended Jobs.
func (o *observed) suspended() int {
	n := 0
	for _, r := range o.running {
		if r.isSuspended() {
			n++
		}
	}
	return n
}

// observe returns the state of each node, in time linear in nodes and Jobs. Eligibility counts only for a node without a Job and without
// a recorded end: the spec may have changed since.
func (p *pass) observe(view builder.View) *observed {
	jobs := builder.Owned[*batchv1.Job](view)
	all := func(*metav1.OwnerReference) bool { return true }
	o := &observed{template: render(p.job), pods: outcome.GroupByJob(builder.Owned[*corev1.Pod](view), all)}
	eligible, problems := eligibleNodes(p.job, &o.template.Spec.Template.Spec)
	o.problems = problems
	left := leftoverPods(view, jobs)
	succeeded, failed := hostlist.Parse(p.last.SucceededNodes), hostlist.Parse(p.last.FailedNodes)
	isRecorded := func(node string) bool { return succeeded.Has(node) || failed.Has(node) }
	byName := make(map[string]*batchv1.Job, len(jobs))
	for _, j := range jobs {
		byName[j.Name] = j
	}
	for _, node := range builder.Watched[*corev1.Node](view) {
		name := JobName(p.job.Name, node.Name)
		own := byName[name]
		delete(byName, name)
		switch {
		case own != nil && isFormer(own, node, p.last.Retry):
			o.terminating++
			o.deleteStale(own, isRecorded(node.Name))
		case succeeded.Has(node.Name):
			o.succeeded = append(o.succeeded, node.Name)
		case failed.Has(node.Name):
			o.failed = append(o.failed, node.Name)
		case own != nil:
			r := run{node: node.Name, job: own}
			if result := o.pods.Outcome(own, p.job.Spec.EndOfJob); result.Phase != outcome.Running {
				o.addEnded(r, result)
			} else {
				p.addRunning(o, r, node)
			}
		case !eligible.matches(node):
		default:
			old, until := left.on(node, p.now.Time)
			o.requeueAfter = lifecycle.Soonest(o.requeueAfter, until)
			reason := eligible.blocker(node)
			switch {
			case len(old) > 0 && (reason == "" || !p.areInterrupted(o, old, eligible.blockedSince(node, p.now))):
				o.terminating++
				o.leftover = append(o.leftover, blocker{node.Name, old[0].Name})
			case reason == "":
				o.pending = append(o.pending, node)
			default:
				o.blocked = append(o.blocked, blocker{node.Name, reason})
			}
		}
	}
	for _, j := range jobs { // in order, so that the plan is deterministic
		if byName[j.Name] != nil { // its node is gone
			o.deleteStale(j, isRecorded(j.Annotations[AnnotationNode]))
		}
	}
	o.changed = o.changed || len(o.succeeded) != int(p.last.Succeeded) || len(o.failed) != int(p.last.Failed)
	o.resuming = p.blockedResumes(o)
	o.findRefused(refusal.Of(view))
	return o
}

// isFormer reports whether a node's Job is of an earlier node of the same name, or failed before the present retry.
func isFormer(job *batchv1.Job, node *corev1.Node, retry int32) bool {
	if uid := job.Annotations[AnnotationNodeUID]; uid != "" && uid != string(node.UID) {
		return true
	}
	return startedUnder(job) < retry && outcome.Of(job).Phase == outcome.Failed
}

// deleteStale plans the deletion of a Job that is former or whose node is gone. While the status records the end of its node, it only
// has the record dropped: after a crash between a deletion and that write, a new node of the name would look as if it had run.
func (o *observed) deleteStale(job *batchv1.Job, isRecorded bool) {
	switch {
	case isRecorded:
		o.changed, o.requeueAfter = true, lifecycle.Later
	case job.DeletionTimestamp == nil:
		o.stale = append(o.stale, job)
	}
}

// addEnded adds a node by the outcome of its Job. A Job that is being deleted and hasn't ended counts as running: its name is in use
// until it is gone.
func (o *observed) addEnded(r run, result outcome.Outcome) {
	switch result.Phase {
	case outcome.Succeeded:
		o.succeeded = append(o.succeeded, r.node)
	case outcome.Failed:
		o.failed = append(o.failed, r.node)
		o.newFailures = append(o.newFailures, failure{job: r.job, NodeFailure: v1alpha1.NodeFailure{
			Node: r.node, Job: r.job.Name, CompletionTime: result.Ended.DeepCopy(), Message: message.Shorten(result.Why()),
		}})
	}
	o.changed = true
	if o.lastEnd == nil || o.lastEnd.Before(result.Ended) {
		o.lastEnd = result.Ended
	}
}

// findRefused finds the first node, by name, whose Job has no pod because the API server refuses it.
func (o *observed) findRefused(refused *refusal.Refusals) {
	for _, r := range o.running {
		reason := refused.Reason(r.job)
		if reason != "" && (o.refused == nil || r.node < o.refused.node) {
			o.refused = &blocker{r.node, reason}
		}
	}
	o.requeueAfter = lifecycle.Soonest(o.requeueAfter, refused.RequeueAfter())
}

// stopRunning counts the nodes whose Jobs haven't ended as failed. The next pass deletes these Jobs, once the status records
// that: after a crash between a deletion and the record, nothing would show that they had run.
func (o *observed) stopRunning() {
	if len(o.running)+o.interruptedJobs > 0 {
		o.changed, o.requeueAfter = true, lifecycle.Soon
	}
	for _, r := range o.running {
		if r.failing != nil {
			o.addEnded(r, *r.failing)
		} else {
			o.failed = append(o.failed, r.node)
		}
	}
	o.running = nil
}

// leftovers are pods that haven't ended and whose Job is gone, by the label of their node.
type leftovers map[string][]*corev1.Pod

// leftoverPods returns the leftovers among the watched pods, which are those that name the DaemonJob.
func leftoverPods(view builder.View, jobs []*batchv1.Job) leftovers {
	left := leftovers{}
	for _, pod := range outcome.Leftover(builder.Watched[*corev1.Pod](view), jobs) {
		node := pod.Labels[LabelNode]
		left[node] = append(left[node], pod)
	}
	return left
}

// on returns the pods that deleted Jobs have left on a node. The node gets no Job while one of them runs. A pod that is older than the
// node counts, too: the same machine may have registered again. Its kubelet kills the pod when its grace period ends. If the pod is still
// there interruptedAfter that, nobody removes it, and it no longer counts. The duration is the time until then; 0: there is none.
func (l leftovers) on(node *corev1.Node, now time.Time) (pods []*corev1.Pod, until time.Duration) {
	for _, pod := range l[names.LabelValue(node.Name)] {
		if pod.DeletionTimestamp != nil && pod.CreationTimestamp.Before(&node.CreationTimestamp) {
			left := pod.DeletionTimestamp.Add(interruptedAfter).Sub(now)
			if left <= 0 {
				continue
			}
			until = lifecycle.Soonest(until, left)
		}
		pods = append(pods, pod)
	}
	return pods, until
}
