package daemonjob

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/message"
	"github.com/armature-dev/armature/operators/internal/runpolicy"
)

// verdict is how a job goes on.
type verdict struct {
	end     v1alpha1.State // Succeed or Failed if the job ends now, else empty
	starts  bool           // more Jobs may be started
	paused  bool           // failurePolicy Pause has taken effect
	ready   bool           // all is done that there is to do now
	stalled bool           // nothing more comes by itself
	reason  string
	message string
}

func (v verdict) ended() bool { return v.end != "" }

// judge decides how a job goes on. The first rule that applies holds.
func judge(job *v1alpha1.DaemonJob, was v1alpha1.DaemonJobStatus, nodes *survey, problems field.ErrorList, now metav1.Time) verdict {
	spec := &job.Spec
	deadline := runpolicy.Deadline(was.ActiveSince, spec.ActiveDeadlineSeconds, now.Time)
	isValid, tooMany := len(problems) == 0, tooManyFailures(spec, nodes)
	v := verdict{}
	v.paused = spec.FailurePolicy == v1alpha1.FailurePause && (was.Paused || isValid && tooMany)
	progress := nodes.progress()
	switch {
	case isValid && isDone(spec, nodes):
		v = endsWith(nodes)
	case deadline.Due:
		v = verdict{end: v1alpha1.StateFailed, reason: v1alpha1.ReasonDeadlineExceeded, message: fmt.Sprintf(
			"activeDeadlineSeconds (%d) have passed; when they had, %s", *spec.ActiveDeadlineSeconds, progress)}
	case !isValid:
		v.stalled, v.reason, v.message = true, v1alpha1.ReasonInvalidSpec, message.List(problems, (*field.Error).Error)
	case spec.FailurePolicy == v1alpha1.FailureFailFast && tooMany:
		v = verdict{end: v1alpha1.StateFailed, reason: v1alpha1.ReasonFailFast,
			message: "stopped by failurePolicy FailFast, when " + progress}
	case spec.Suspend:
		v.reason, v.message = v1alpha1.ReasonSuspended, "the job is suspended: "+progress
	case v.paused:
		v.stalled = nodes.active() == 0
		v.reason, v.message = v1alpha1.ReasonPaused, progress+"; "+waysOut(spec)
	case nodes.desired() == 0:
		v.starts = true
		v.reason, v.message = v1alpha1.ReasonNoMatchingNodes,
			"waiting for a node: there is none that the template selects and that isn't excluded"
	case len(nodes.pending)+nodes.active() > 0:
		v.starts = true
		v.reason, v.message = v1alpha1.ReasonRunning, progress
		if nodes.refused != nil {
			v.reason = v1alpha1.ReasonPodsRefused
			v.message = fmt.Sprintf("%s; node %s has no pod, since it is refused: %s", progress, nodes.refused.node, nodes.refused.why)
		}
	case len(nodes.waiting) > 0:
		v.starts = true
		v.reason, v.message = v1alpha1.ReasonNodesUnavailable, progress
	default: // all that there is has ended, and the job goes on
		v.starts, v.ready = true, len(nodes.failed) == 0
		v.reason, v.message = v1alpha1.ReasonUpToDate, progress
		if !v.ready {
			v.reason = v1alpha1.ReasonJobFailed
		}
	}
	return v
}

// isDone reports whether a job has come to its end by itself. One that no node has run waits for a node.
func isDone(spec *v1alpha1.DaemonJobSpec, nodes *survey) bool {
	return spec.CompletionPolicy != v1alpha1.CompleteNever &&
		nodes.ended() > 0 && len(nodes.pending)+nodes.active() == 0 &&
		(len(nodes.waiting) == 0 || spec.UnavailableNodes == v1alpha1.UnavailableSkip)
}

// endsWith is the verdict on a job that has come to its end by itself.
func endsWith(nodes *survey) verdict {
	if len(nodes.failed) > 0 {
		return verdict{end: v1alpha1.StateFailed, reason: v1alpha1.ReasonJobFailed, message: nodes.progress()}
	}
	return verdict{end: v1alpha1.StateSucceed, ready: true, reason: v1alpha1.ReasonSucceeded, message: nodes.progress()}
}

// tooManyFailures reports whether as many nodes have failed as failurePolicy allows.
func tooManyFailures(spec *v1alpha1.DaemonJobSpec, nodes *survey) bool {
	limit := 1
	if spec.MaxFailures != nil {
		limit = scale(spec.MaxFailures, nodes.desired())
	}
	return len(nodes.failed) >= limit
}

// waysOut says what can be done about a pause.
func waysOut(spec *v1alpha1.DaemonJobSpec) string {
	without := "set failurePolicy to Continue"
	if spec.MaxFailures != nil {
		without += " and remove maxFailures"
	}
	return fmt.Sprintf("to run the failed nodes again and go on, set retry to %d; to go on without them, %s", spec.Retry+1, without)
}
