package daemonjob

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/hostlist"
	"github.com/armature-dev/armature/operators/internal/message"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// recordingDelay is how soon to look again when something has to be recorded before the next step.
const recordingDelay = time.Second

// survey is what has become of the nodes that a job is for. Each is in one of the lists; those that are gone are in none.
type survey struct {
	pending   []*corev1.Node // have no Job, and can take one
	waiting   []obstacle     // have no Job, and can't take one for the time being
	running   []run          // haven't ended
	leaving   int            // nodes that can have a Job when a former one is gone, or its pods have ended
	former    []obstacle     // of these: those that wait for a pod, and for which
	resuming  []obstacle     // of running: those whose suspended Job waits for a pod, and for which
	succeeded []string
	failed    []string

	newFailures []failure       // that aren't recorded yet
	news        bool            // whether an end isn't recorded yet, or a record no longer holds
	lastEnd     *metav1.Time    // of the Jobs that are still there
	dismissed   []client.Object // former Jobs to be deleted
	refused     *obstacle       // the first of running that has no pods because they are refused, and why
	again       time.Duration   // when to look again, 0: when something changes
}

// obstacle is why a node has to wait.
type obstacle struct{ node, why string }

// run is a node's Job.
type run struct {
	node string
	job  *batchv1.Job
}

// failure is a node's failure that was just seen.
type failure struct {
	v1alpha1.NodeFailure
	job *batchv1.Job
}

func (s *survey) active() int { return len(s.running) + s.leaving }

func (s *survey) ended() int { return len(s.succeeded) + len(s.failed) }

func (s *survey) desired() int {
	return len(s.pending) + len(s.waiting) + s.active() + s.ended()
}

// look finds out what has become of each node, in time linear in nodes and Jobs. A node that has a Job, or had one to its
// end, is looked at by that and not by the rules, which may have changed since.
func look(
	job *v1alpha1.DaemonJob, was v1alpha1.DaemonJobStatus, r *rules, nodes []*corev1.Node, jobs []*batchv1.Job, pods podsOfJobs,
) *survey {
	s := &survey{}
	succeeded, failed := hostlist.Parse(was.SucceededNodes), hostlist.Parse(was.FailedNodes)
	isRecorded := func(node string) bool { return succeeded.Has(node) || failed.Has(node) }
	byName := make(map[string]*batchv1.Job, len(jobs))
	for _, j := range jobs {
		byName[j.Name] = j
	}
	for _, node := range nodes {
		name := JobName(job.Name, node.Name)
		own := byName[name]
		delete(byName, name)
		switch {
		case own != nil && isFormer(own, node, was.Retry):
			s.leaving++
			s.dismiss(own, isRecorded(node.Name))
		case succeeded.Has(node.Name):
			s.succeeded = append(s.succeeded, node.Name)
		case failed.Has(node.Name):
			s.failed = append(s.failed, node.Name)
		case own != nil:
			s.add(run{node.Name, own}, outcomeOf(job, own, pods.ByJob))
			s.resumes(job, isSuspended(&was), run{node.Name, own}, pods.ByJob)
		case !r.meant(node):
		case pods.leftOn(node) != nil:
			s.leaving++
			s.former = append(s.former, obstacle{node.Name, pods.leftOn(node).Name})
		default:
			if why := r.obstacle(node); why == "" {
				s.pending = append(s.pending, node)
			} else {
				s.waiting = append(s.waiting, obstacle{node.Name, why})
			}
		}
	}
	for _, j := range jobs { // in order
		if byName[j.Name] != nil { // its node is gone
			s.dismiss(j, isRecorded(j.Annotations[AnnotationNode]))
		}
	}
	s.news = s.news || len(s.succeeded) != int(was.Succeeded) || len(s.failed) != int(was.Failed)
	return s
}

// outcomeOf is how a node's Job has ended: by its conditions, or, if the spec doesn't ask to wait for these, by its pods.
func outcomeOf(job *v1alpha1.DaemonJob, own *batchv1.Job, pods outcome.ByJob) outcome.Outcome {
	if job.Spec.EndOfJob == v1alpha1.EndOfJobCondition {
		return outcome.Of(own)
	}
	return outcome.Earliest(own, pods)
}

// resumes notes the pod that a Job waits for that is to be resumed.
func (s *survey) resumes(job *v1alpha1.DaemonJob, suspendedByUs bool, r run, pods outcome.ByJob) {
	if pod := pods.Unended(r.job); pod != nil && suspendedByUs && !job.Spec.Suspend && r.isHeld() {
		s.resuming = append(s.resuming, obstacle{r.node, pod.Name})
	}
}

// held is how many Jobs are suspended.
func (s *survey) held() int {
	n := 0
	for _, r := range s.running {
		if r.isHeld() {
			n++
		}
	}
	return n
}

// isFormer reports whether a node's Job is of the node's predecessor, or is one that failed and is to be retried.
func isFormer(job *batchv1.Job, node *corev1.Node, retry int32) bool {
	if uid := job.Annotations[AnnotationNodeUID]; uid != "" && uid != string(node.UID) {
		return true
	}
	return startedUnder(job) < retry && outcome.Of(job).Phase == outcome.Failed
}

// dismiss has a former Job deleted, once the status no longer says that its node has ended: if the process died between
// the two, the node's successor would look as if it had run.
func (s *survey) dismiss(job *batchv1.Job, isRecorded bool) {
	switch {
	case isRecorded:
		s.news, s.again = true, recordingDelay
	case job.DeletionTimestamp == nil:
		s.dismissed = append(s.dismissed, job)
	}
}

// add counts a node by its Job, and how that has ended.
func (s *survey) add(r run, o outcome.Outcome) {
	switch o.Phase {
	case outcome.Running: // or about to be deleted: the name is taken as long as the Job is there
		s.running = append(s.running, r)
		return
	case outcome.Succeeded:
		s.succeeded = append(s.succeeded, r.node)
	case outcome.Failed:
		s.failed = append(s.failed, r.node)
		s.newFailures = append(s.newFailures, failure{job: r.job, NodeFailure: v1alpha1.NodeFailure{
			Node: r.node, Job: r.job.Name, CompletionTime: o.Ended.DeepCopy(),
			Message: message.Shorten(o.Why()),
		}})
	}
	s.news = true
	if s.lastEnd == nil || s.lastEnd.Before(o.Ended) {
		s.lastEnd = o.Ended
	}
}

// stop counts the nodes whose Jobs haven't ended as failed. The Jobs are deleted once that is recorded, right after this
// pass: the other way around, a process that dies in between would not know that they had run.
func (s *survey) stop() {
	for _, r := range s.running {
		s.failed = append(s.failed, r.node)
		s.news, s.again = true, time.Millisecond
	}
	s.running = nil
}
