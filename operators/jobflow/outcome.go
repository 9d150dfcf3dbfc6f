package jobflow

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// records are what is known of a flow's nodes: what the status remembers, and the Jobs that exist.
type records struct {
	latched map[string]*v1alpha1.FlowStatus // by node
	jobs    map[string]*batchv1.Job         // by the Job's name
	now     metav1.Time
}

func recordsOf(flow *v1alpha1.JobFlow, jobs []*batchv1.Job, now metav1.Time) records {
	r := records{
		latched: make(map[string]*v1alpha1.FlowStatus, len(flow.Status.Flows)),
		jobs:    make(map[string]*batchv1.Job, len(jobs)),
		now:     now,
	}
	for i := range flow.Status.Flows {
		r.latched[flow.Status.Flows[i].Name] = &flow.Status.Flows[i]
	}
	for _, job := range jobs {
		r.jobs[job.Name] = job
	}
	return r
}

// of returns what has become of a node: its end if that was recorded, else what its Job says, else Pending.
func (r records) of(node, jobName string) v1alpha1.FlowStatus {
	if before := r.latched[node]; before != nil && final(before.State) {
		return *before
	}
	job := r.jobs[jobName]
	if job == nil {
		return v1alpha1.FlowStatus{Name: node, State: v1alpha1.FlowPending}
	}
	s := v1alpha1.FlowStatus{Name: node, State: v1alpha1.FlowRunning, Job: job.Name}
	if !job.CreationTimestamp.IsZero() {
		s.StartTime = job.CreationTimestamp.DeepCopy()
	}
	o := outcome.Of(job)
	switch o.Phase {
	case outcome.Running: // or about to be deleted: the name is taken as long as the Job is there
		return s
	case outcome.Succeeded:
		s.State = v1alpha1.FlowSucceed
	case outcome.Failed:
		s.State = v1alpha1.FlowFailed
		s.Message = shorten(strings.TrimSuffix(o.Reason+": "+o.Message, ": "))
	}
	s.CompletionTime = r.now.DeepCopy()
	if !o.Ended.IsZero() {
		s.CompletionTime = o.Ended.DeepCopy()
	}
	return s
}

// was returns what was recorded of a node in the last pass. The zero value is a node that is new.
func (r records) was(node string) v1alpha1.FlowStatus {
	if before := r.latched[node]; before != nil {
		return *before
	}
	return v1alpha1.FlowStatus{}
}

// final reports whether a node in this state has run and never will again. Skipped isn't among them: it follows from
// the dependencies, which can still be changed.
func final(s v1alpha1.FlowState) bool {
	return s == v1alpha1.FlowSucceed || s == v1alpha1.FlowFailed
}
