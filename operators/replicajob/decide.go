package replicajob

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/message"
)

// decision is how a job continues.
type decision struct {
	action  action
	records bool // the status records what the next pass acts on

	reason, message string
	cause           *failure     // the failure that decided; nil: none did
	at              *metav1.Time // when the job ended; nil: it isn't known better than now

	restarting []*failure    // actionRun: the failed replicas that are recreated
	wait       time.Duration // actionAwaitRestart: the time until the restart
	problem    *problem      // why the spec can't be carried out; nil: it can
	evaluating []*failure    // all failures, while some aren't evaluated
}

type action int

const (
	actionNone         action = iota // no pod is created or deleted
	actionSuspend                    // all pods are deleted
	actionAwaitPods                  // a resumed job waits until its old pods are gone
	actionStart                      // the start, or the resume, is recorded
	actionRun                        // missing pods are created, failed and surplus ones deleted
	actionEvaluate                   // the rules of further failures are recorded on their pods
	actionAwaitRestart               // as actionRun, but no pod is created: the whole job restarts in a while
	actionRestart                    // the restart of the whole job is recorded
	actionSucceed                    // the job's end is recorded
	actionFail                       // the job's end is recorded
)

// decide returns how a job continues. The first rule that applies counts. A job whose spec can't be carried out doesn't start; one
// that has started can still end or be suspended, as far as the spec says how.
func (p *pass) decide(o *observed) decision {
	problem := p.validate()
	hasStarted, isSuspended := p.last.StartTime != nil, p.isSuspended()
	switch {
	case p.spec.RunPolicy.Suspend && (problem == nil || hasStarted || isSuspended):
		return decision{action: actionSuspend, records: !isSuspended, problem: problem}
	case isSuspended && len(o.pods()) > 0:
		return decision{action: actionAwaitPods, problem: problem}
	case problem != nil && !hasStarted:
		return decision{action: actionNone, problem: problem}
	case problem != nil:
		rule, failures := p.evaluable(o)
		d := p.evaluate(o, rule, failures)
		if d.action == actionSucceed || d.action == actionFail {
			return d
		}
		return decision{action: actionNone, problem: problem, evaluating: d.evaluating}
	case !hasStarted || isSuspended: // a deadline runs from a recorded start
		return decision{action: actionStart, records: true}
	}
	failures := p.failures(o)
	d := p.evaluate(o, p.successRule(o), failures)
	if d.action != actionRun {
		return d
	}
	d.restarting = restarting(failures)
	for _, f := range d.restarting {
		d.records = f.countRestart() || d.records
	}
	if len(d.restarting) > 0 {
		d.cause, d.reason = d.restarting[0], v1alpha1.ReasonReplicaRestarting
		d.message = message.Names(d.restarting, (*failure).String)
	}
	return d
}

// evaluate applies the success policy, the deadline, the failure policy and the backoffLimit. Success comes before any failure, and
// failures count in the order of ranks, so the result doesn't depend on the order of observation. What happened before the deadline
// counts, even if it is observed later. But the deadline waits for no evaluation: it never ends if the API server refuses its records.
func (p *pass) evaluate(o *observed, rule successRule, failures []*failure) decision {
	deadline := p.deadline()
	isInTime := func(at *metav1.Time) bool { return !deadline.Due || at != nil && !at.After(p.deadlineTime()) }

	if done, at := rule.isMet(); done && isInTime(at) {
		return decision{action: actionSucceed, records: true, reason: v1alpha1.ReasonSucceeded, message: rule.message(), at: at}
	}
	for _, f := range failures {
		if f.action == v1alpha1.FailureFail && isInTime(f.how.Ended) {
			return failJob(f)
		}
	}
	if deadline.Due {
		at := metav1.NewTime(p.deadlineTime())
		return decision{action: actionFail, records: true, reason: v1alpha1.ReasonDeadlineExceeded, at: &at,
			message: fmt.Sprintf("the job ran longer than runPolicy.activeDeadlineSeconds, %d", *p.spec.RunPolicy.ActiveDeadlineSeconds)}
	}
	if unevaluated(failures) > 0 { // one of them may fail the job, or come before another that restarts it
		return decision{action: actionEvaluate, evaluating: failures}
	}
	for _, f := range failures {
		if f.restartsJob() {
			return p.restartJob(o, f)
		}
	}
	return p.limitRestarts(o, failures)
}

func (p *pass) deadlineTime() time.Time {
	return lifecycle.End(*p.last.StartTime, *p.spec.RunPolicy.ActiveDeadlineSeconds)
}
