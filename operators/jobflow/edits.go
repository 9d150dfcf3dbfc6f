package jobflow

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/jobflow/internal/graph"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// setEditRefused sets the condition EditRefused if an edit has no effect, because it is one of nodes that have started. It does so in the
// first pass of a generation only.
func (p *pass) setEditRefused(o *observed, status *v1alpha1.JobFlowStatus) {
	if p.flow.Status.ObservedGeneration == p.flow.Generation || p.flow.Status.StartTime == nil {
		return
	}
	refused := p.editsOfStarted(o)
	if len(refused) == 0 {
		p.conditions(status).Remove(v1alpha1.ConditionEditRefused)
		return
	}
	text := enumerate(refused, graph.Problem.String)
	p.conditions(status).Set(v1alpha1.ConditionEditRefused, true, v1alpha1.ReasonEditRefused, text)
}

// editsOfStarted returns the edits of nodes that have started.
func (p *pass) editsOfStarted(o *observed) []graph.Problem {
	const (
		ofNode  = "it has been started, and stays as it was then; the change takes effect only if a retry runs it again"
		ofItems = "its items that run or have ended stay as they were; the change takes effect for the others"
	)
	var refused []graph.Problem
	for i := range p.Names {
		if s := p.States[i]; s != record.Running && !s.HasRun() {
			continue
		}
		is := record.Digest(p.node(i))
		was, hasOpenItems := p.startedAndKept(o, i)
		switch {
		case was != "":
			for _, name := range record.ChangedFields(was, is) {
				why := ofNode
				if hasOpenItems && name != "forEach" && name != "when" { // they have decided which items run, and whether
					why = ofItems
				}
				refused = append(refused, graph.Problem{Node: p.Names[i], Err: field.Forbidden(p.Path(i).Child(name), why)})
			}
		case p.recorded.States[i].HasRun() && p.Digests[i].Spec != 0 && p.Digests[i].Spec != record.HashDigest(is):
			refused = append(refused, graph.Problem{Node: p.Names[i], Err: field.Forbidden(p.Path(i), ofNode)})
		}
	}
	unnamed := 0
	for i := p.Size(); i < len(p.States); i++ {
		n := p.findings[i]
		switch {
		case p.States[i] == record.Running && p.isDeleted(o, n.job, i):
		case n.job != nil:
			refused = append(refused, graph.Problem{Node: n.job.Labels[LabelFlow], Err: field.Forbidden(field.NewPath("spec", "flows"),
				"it was removed after its start: it still counts, as it was started")})
		default:
			unnamed++
		}
	}
	if unnamed > 0 {
		refused = append(refused, graph.Problem{Node: "", Err: field.Forbidden(field.NewPath("spec", "flows"),
			fmt.Sprintf("%d ended flows were removed: they still count", unnamed))})
	}
	return refused
}

// startedAndKept returns the digest of what a node was started with; empty if it has no Job, or only Jobs that are deleted and created
// again. hasOpenItems reports whether further items of the node start, as the spec then has it.
func (p *pass) startedAndKept(o *observed, i int) (was string, hasOpenItems bool) {
	if job := o.jobs[i]; job != nil {
		if p.States[i] == record.Running && p.isDeleted(o, job, i) {
			return "", false
		}
		return job.Annotations[AnnotationStartedAs], false
	}
	if p.States[i] != record.Running {
		return p.startedAs(o, i), false
	}
	r := p.items[i]
	for item := range graph.MaxItems {
		job := o.itemJobs[itemKey{i, item}]
		switch {
		case job == nil:
			hasOpenItems = hasOpenItems || r != nil && item < len(r.States) && r.States[item] == record.Pending
		case p.isDeleted(o, job, i):
			hasOpenItems = true
		case was == "":
			was = job.Annotations[AnnotationStartedAs]
		}
	}
	return was, hasOpenItems
}

// isDeleted reports whether an active Job is deleted before its end is decided, by the suspension of the flow or by someone else.
func (p *pass) isDeleted(o *observed, job *batchv1.Job, node int) bool {
	if job == nil {
		return false
	}
	if job.DeletionTimestamp == nil {
		return p.isWithdrawn(o, job, node)
	}
	return !o.pods.IsDecided(job) && !p.createsNone(node)
}

// startedAs returns the digest of what a node was started with; empty if it has no Job.
func (p *pass) startedAs(o *observed, i int) string {
	if job := o.jobs[i]; job != nil {
		return job.Annotations[AnnotationStartedAs]
	}
	if r := p.items[i]; r != nil {
		for item := range r.States {
			if job := o.itemJobs[itemKey{i, item}]; job != nil {
				return job.Annotations[AnnotationStartedAs]
			}
		}
	}
	return ""
}

// changeIgnored returns the event of an edit of the spec after the end.
func (p *pass) changeIgnored() events.Event {
	const still = "ttlSecondsAfterFinished and jobRetention still take effect"
	next := still + "; create a new JobFlow to run it"
	switch state := p.flow.Status.State; {
	case state == v1alpha1.StateFailed && p.spec.Retry > p.flow.Status.Retry:
		next = "spec.terminate must be false for a retry"
	case state == v1alpha1.StateFailed:
		next = fmt.Sprintf("%s; increase retry to %d to run the failed and unstarted nodes with the new spec", still, p.flow.Status.Retry+1)
	}
	return lifecycle.ChangeIgnored("flow", p.flow.Status.State, next)
}
