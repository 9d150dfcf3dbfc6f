//go:build e2e

package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/jobflow"
	"github.com/armature-dev/armature/operators/minicluster"
	"github.com/armature-dev/armature/test/e2e/soakplan"
)

// jobRun is one Job with one UID. The log of an API server that was killed may lack some write, so that nothing relies on a
// single entry.
type jobRun struct {
	uid         types.UID
	name, owner string
	labels      map[string]string
	// made is the version of its creation; 0 if the log lacks it.
	made uint64
	// ended is the first version in which its pod had succeeded, or it had a condition of its end; ending tells that this
	// version made it so. Otherwise the log lacks the one that did.
	ended  uint64
	ending bool
	// failedSuspended tells that it was to fail and was suspended as well: its pods have failed because they were stopped, or
	// at the same moment. A MiniCluster gets another Job then.
	failedSuspended bool
}

// key tells apart what may be made once.
func (j *jobRun) key() string { return fmt.Sprintf("%s %s %d", j.owner, j.name, j.attempt()) }

// attempt of the flow or cluster that it belongs to.
func (j *jobRun) attempt() int {
	for _, label := range []string{jobflow.LabelRetry, minicluster.LabelAttempt} {
		if n, err := strconv.Atoi(j.labels[label]); err == nil {
			return n
		}
	}
	return 0
}

// jobRuns are all Jobs of the history, in no order.
func (s *soak) jobRuns(history []write) []*jobRun {
	s.Helper()
	runs := map[types.UID]*jobRun{}
	for i := range history {
		w := &history[i]
		kind, _, _ := strings.Cut(w.resource, "/")
		if kind == "jobs.batch" && w.object.UID != "" {
			run := runs[w.object.UID]
			if run == nil {
				run = &jobRun{uid: w.object.UID, name: w.object.Name}
				runs[run.uid] = run
			}
			if owner := metav1.GetControllerOf(&w.object); owner != nil {
				run.owner, run.labels = owner.Name, w.object.Labels
			}
			if w.verb == "create" && w.resource == kind {
				run.made = w.version(s.space)
			}
			if w.object.Spec.Suspend && (w.object.is("FailureTarget") || w.object.is("Failed")) {
				run.failedSuspended = true
			}
			if run.ended == 0 && slices.ContainsFunc([]string{"Complete", "SuccessCriteriaMet", "Failed", "FailureTarget"}, w.object.is) {
				run.ended, run.ending = w.version(s.space), w.resource != kind
			}
		}
	}
	for i := range history {
		w := &history[i]
		kind, _, _ := strings.Cut(w.resource, "/")
		owner := metav1.GetControllerOf(&w.object)
		if kind != "pods" || owner == nil || w.object.Status.Phase != corev1.PodSucceeded || runs[owner.UID] == nil {
			continue
		}
		if run := runs[owner.UID]; run.ended == 0 || w.version(s.space) < run.ended {
			run.ended, run.ending = w.version(s.space), w.resource != kind
		}
	}
	return slices.Collect(maps.Values(runs))
}

// checkHistory checks what must have held at any time.
func (s *soak) checkHistory() {
	s.Helper()
	history := s.history()
	s.log = history
	runs := s.jobRuns(history)
	s.checkMadeOnce(runs)
	s.checkQuota(history)
	s.checkFinal(history)
	for name, o := range s.finals {
		if flow, ok := o.Final.(*v1alpha1.JobFlow); ok {
			s.checkOrder(name, flow, runs)
			s.checkRecord(name, history, runs)
		}
	}
	s.Logf("%d writes, %d Jobs, %d objects", len(history), len(runs), len(s.finals))
}

// fail tells of a violation, with the log's entries about an object and what belongs to it.
func (s *soak) fail(about, format string, args ...any) {
	s.Helper()
	var entries []string
	for _, w := range s.log {
		if w.name == about || strings.HasPrefix(w.name, about+"-") {
			entries = append(entries, fmt.Sprintf("%s %s %s %s by %s, phase %s, flows %v, conditions %v",
				w.object.ResourceVersion, w.verb, w.resource, w.name, w.user, w.object.Status.Phase, w.object.Status.Flows, w.object.Status.Conditions))
		}
	}
	if most := 100; len(entries) > most {
		entries = entries[:most]
	}
	s.Errorf("seed %d: %s\n%s\n%s", s.script.Seed, fmt.Sprintf(format, args...), strings.Join(entries, "\n"), s.events(about))
}

// checkMadeOnce: each Job was made once an attempt, and again only if someone had deleted it by hand. A retry of a DaemonJob
// deletes those that have failed itself, and a MiniCluster one that was suspended too late for its pods.
func (s *soak) checkMadeOnce(runs []*jobRun) {
	s.Helper()
	times, replaced := map[string]int{}, map[string]int{}
	for _, run := range runs {
		if run.failedSuspended && run.labels[minicluster.LabelMiniCluster] != "" {
			replaced[run.key()]++
		}
	}
	for _, run := range runs {
		key := run.key()
		times[key]++
		allowed := 1 + s.deletedJobs[run.name] + replaced[key]
		if o := s.finals[run.owner]; o != nil {
			if job, ok := o.Final.(*v1alpha1.DaemonJob); ok {
				allowed += int(job.Spec.Retry)
			}
		}
		if times[key] == allowed+1 {
			s.fail(run.owner, "Job %s was made more than %d times in attempt %d", run.name, allowed, run.attempt())
		}
	}
}

// checkQuota: at no time were there pods of more FluxJobs than the queue has room for. A job that has any pod counts as a whole.
func (s *soak) checkQuota(history []write) {
	s.Helper()
	alive := map[string]map[types.UID]bool{}
	for i := range history {
		w := &history[i]
		kind, _, _ := strings.Cut(w.resource, "/")
		job := w.object.Labels[minicluster.LabelMiniCluster]
		o := s.finals[job]
		if kind != "pods" || o == nil || o.Kind() != "FluxJob" {
			continue
		}
		if alive[job] == nil {
			alive[job] = map[types.UID]bool{}
		}
		switch {
		case w.verb == "create" && w.resource == kind:
			alive[job][w.object.UID] = true
		case w.object.Status.Phase == corev1.PodSucceeded, w.object.Status.Phase == corev1.PodFailed,
			w.verb == "delete" && (w.object.Spec.NodeName == "" || w.object.DeletionGracePeriodSeconds == nil || *w.object.DeletionGracePeriodSeconds == 0):
			delete(alive[job], w.object.UID)
		}
		clusters, pods := 0, int32(0)
		for name, living := range alive {
			if len(living) > 0 {
				clusters++
				pods += *s.finals[name].Final.(*v1alpha1.FluxJob).Spec.Size
			}
		}
		if clusters > soakplan.QuotaMiniClusters || pods > soakplan.QuotaPods {
			s.fail(job, "the quota is exceeded at version %s: pods of %d clusters of %d pods: %v", w.object.ResourceVersion, clusters, pods, alive)
			return
		}
	}
}

// checkFinal: what has succeeded stays so, and no Job is made for it any more.
func (s *soak) checkFinal(history []write) {
	s.Helper()
	succeeded := map[types.UID]uint64{}
	for i := range history {
		w := &history[i]
		switch {
		case !w.ours() || !strings.HasSuffix(w.resource, "/status") || w.object.UID == "":
		case w.object.is("Succeeded") && succeeded[w.object.UID] == 0:
			succeeded[w.object.UID] = w.version(s.space)
		case succeeded[w.object.UID] != 0 && w.version(s.space) > succeeded[w.object.UID] && !w.object.is("Succeeded"):
			s.fail(w.name, "%s %s had succeeded at %d, and not any more at %s", w.resource, w.name, succeeded[w.object.UID], w.object.ResourceVersion)
		}
	}
	for i := range history {
		w := &history[i]
		owner := metav1.GetControllerOf(&w.object)
		if w.verb != "create" || strings.Contains(w.resource, "/") || owner == nil || !w.byOperator() {
			continue
		}
		if at := succeeded[owner.UID]; at != 0 && w.version(s.space) > at {
			s.fail(owner.Name, "%s %s was made after %s had succeeded", w.resource, w.name, owner.Name)
		}
	}
}

// checkRecord: a node whose end was on record doesn't run again in the same attempt, even if its Job is deleted.
func (s *soak) checkRecord(name string, history []write, runs []*jobRun) {
	s.Helper()
	for _, run := range runs {
		node := run.labels[jobflow.LabelFlow]
		if run.owner != name || run.made == 0 || run.labels[jobflow.LabelItem] != "" {
			continue
		}
		var last *write
		for i := range history {
			w := &history[i]
			if w.resource == "jobflows.api.practice.com/status" && w.name == name && w.version(s.space) < run.made {
				last = w
			}
		}
		if last == nil || int(last.object.Status.Retry) != run.attempt() {
			continue
		}
		for _, n := range last.object.Status.Flows {
			if n.Name == node && (n.State == "Succeed" || n.State == "Failed") {
				s.fail(name, "Job %s was made at %d, although %s was %s on record at %s", run.name, run.made, node, n.State, last.object.ResourceVersion)
			}
		}
	}
}
