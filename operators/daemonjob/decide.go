package daemonjob

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/message"
)

// decision is how a job continues; its reason and message are those of the condition Ready.
type decision struct {
	end     v1alpha1.State // Succeed or Failed if the job ends now, else empty
	starts  bool           // further Jobs may be created
	paused  bool           // failurePolicy Pause has taken effect
	ready   bool           // nothing is left to do now
	stalled bool           // nothing happens until someone changes the spec
	reason  string
	message string
}

func (d decision) ends() bool { return d.end != "" }

// decide returns how a job continues. The first rule that applies counts.
func (p *pass) decide(o *observed) decision {
	spec := &p.job.Spec
	progress := o.progress()
	deadline := lifecycle.Deadline(p.last.ActiveSince, spec.ActiveDeadlineSeconds, p.now.Time)
	isValid, tooMany := len(o.problems) == 0, hasTooManyFailures(spec, o)
	d := decision{paused: spec.FailurePolicy == v1alpha1.FailurePause && (p.last.Paused || isValid && tooMany)}
	switch {
	case isValid && isComplete(spec, o):
		d.end, d.ready, d.reason, d.message = v1alpha1.StateSucceed, true, v1alpha1.ReasonSucceeded, progress
		if len(o.failed) > 0 {
			d.end, d.ready, d.reason = v1alpha1.StateFailed, false, v1alpha1.ReasonJobFailed
		}
	case deadline.Due && !spec.Suspend:
		d.end, d.reason = v1alpha1.StateFailed, v1alpha1.ReasonDeadlineExceeded
		d.message = fmt.Sprintf("activeDeadlineSeconds (%d) have passed; when they had, %s", *spec.ActiveDeadlineSeconds, progress)
	case !isValid:
		d.stalled, d.reason, d.message = true, v1alpha1.ReasonInvalidSpec, message.List(o.problems, (*field.Error).Error)
	case spec.FailurePolicy == v1alpha1.FailureFailFast && tooMany:
		d.end, d.reason, d.message = v1alpha1.StateFailed, v1alpha1.ReasonFailFast, "stopped by failurePolicy FailFast, when "+progress
	case spec.Suspend:
		d.reason, d.message = v1alpha1.ReasonSuspended, "the job is suspended: "+progress
	case d.paused:
		d.stalled = o.active() == 0
		d.reason, d.message = v1alpha1.ReasonPaused, progress+howToResume(spec)
	case o.desired() == 0:
		d.starts = true
		d.reason, d.message = v1alpha1.ReasonNoMatchingNodes,
			"waiting for a node: there is none that the template selects and that isn't excluded"
	case len(o.pending)+o.active() > len(o.interrupted):
		d.starts = true
		d.reason, d.message = v1alpha1.ReasonRunning, progress
		if r := o.refused; r != nil {
			d.reason = v1alpha1.ReasonPodsRefused
			d.message = fmt.Sprintf("%s; node %s has no pod, since it is refused: %s", progress, r.node, r.reason)
		}
	case len(o.blocked)+len(o.interrupted) > 0:
		d.starts = true
		d.reason, d.message = v1alpha1.ReasonNodesUnavailable, progress
	default: // every node has run its Job, and the job continues
		d.starts, d.ready, d.reason, d.message = true, true, v1alpha1.ReasonUpToDate, progress
		if len(o.failed) > 0 {
			d.ready, d.reason = false, v1alpha1.ReasonJobFailed
		}
	}
	if d.ends() {
		d.paused = false
	}
	return d
}

// isComplete reports whether a job has run on all its nodes, by completionPolicy and unavailableNodes. A job that no node has
// run waits for a node.
func isComplete(spec *v1alpha1.DaemonJobSpec, o *observed) bool {
	return spec.CompletionPolicy != v1alpha1.CompleteNever &&
		o.ended() > 0 && len(o.pending)+o.active() == 0 &&
		(len(o.blocked) == 0 || spec.UnavailableNodes == v1alpha1.UnavailableSkip && !spec.Suspend) // a suspension may have stopped Jobs there
}
