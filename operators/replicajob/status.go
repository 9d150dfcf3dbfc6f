package replicajob

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/internal/message"
	"github.com/armature-dev/armature/store"
)

// status returns the status that follows from the observed replicas and the decision.
func (p *pass) status(o *observed, d decision) *v1alpha1.ReplicaJobStatus {
	s := p.last.DeepCopy()
	s.ObservedGeneration = p.generation
	if d.problem == nil || d.action == actionSuspend || p.last.StartTime != nil && p.hasRecordedTypes() {
		p.setCounts(s, o)
	}
	conditions := p.conditions(s)
	if d.problem == nil && d.action != actionFail {
		conditions.RemoveInvalid(v1alpha1.ReasonNoGangScheduler)
	}
	switch d.action {
	case actionNone:
		p.setProblem(s, d.problem)
	case actionSuspend, actionAwaitPods:
		p.setSuspended(s, o, d)
	case actionStart, actionRun, actionEvaluate, actionAwaitRestart:
		if d.action == actionStart {
			if p.isSuspended() {
				conditions.Set(v1alpha1.ConditionSuspended, false, v1alpha1.ReasonResumed, "runPolicy.suspend is false")
			}
			s.StartTime = p.now.DeepCopy()
		}
		p.setRunning(s, o, d)
	case actionRestart:
		p.setJobRestarting(s, o, d)
	case actionSucceed, actionFail:
		p.setEnd(s, d)
	}
	if n := unevaluated(d.evaluating); n > 0 && d.problem == nil {
		ready := conditions.Find(events.ConditionReady)
		conditions.Set(ready.Type, false, ready.Reason, fmt.Sprintf("%s, %d of them not evaluated yet", ready.Message, n))
	}
	if d.problem != nil {
		conditions.Stall(d.problem.reason, d.problem.message)
	}
	return s
}

func (p *pass) conditions(s *v1alpha1.ReplicaJobStatus) lifecycle.Conditions {
	return lifecycle.ConditionsOf(&s.Conditions, p.generation, p.now)
}

// setCounts sets the status of each type from its replicas.
func (p *pass) setCounts(s *v1alpha1.ReplicaJobStatus, o *observed) {
	s.TotalRestarts = s.Restarts
	s.ReplicaStatuses = make(map[v1alpha1.ReplicaType]v1alpha1.ReplicaStatus, len(o.groups))
	for _, g := range o.groups {
		rs := v1alpha1.ReplicaStatus{
			Selector:        p.selectorOfType(g).String(),
			Restarts:        g.restarts(),
			ReplicaRestarts: g.restartsByIndex(),
			SucceededIndexes: string(v1alpha1.IndexesOf(len(g.replicas), func(i int) bool {
				return g.replicas[i].state == succeeded
			})),
		}
		for i := range g.replicas {
			switch g.replicas[i].state {
			case running:
				rs.Active++
			case succeeded:
				rs.Succeeded++
			case failed:
				rs.Failed++
			default:
				rs.Pending++
			}
		}
		s.ReplicaStatuses[g.name] = rs
		s.TotalRestarts += rs.Restarts
	}
}

// counts are the numbers of all replicas of a job.
type counts struct {
	active, pending, succeeded, failed int32
}

func countsOf(s *v1alpha1.ReplicaJobStatus) counts {
	var c counts
	for _, rs := range s.ReplicaStatuses {
		c.active += rs.Active
		c.pending += rs.Pending
		c.succeeded += rs.Succeeded
		c.failed += rs.Failed
	}
	return c
}

func (c counts) String() string {
	text := fmt.Sprintf("%d running, %d pending, %d succeeded", c.active, c.pending, c.succeeded)
	if c.failed > 0 {
		text += fmt.Sprintf(", %d failed", c.failed)
	}
	return text
}

// setCreated sets the condition Created, which an invalid job doesn't have.
func (p *pass) setCreated(s *v1alpha1.ReplicaJobStatus) {
	p.conditions(s).Set(v1alpha1.ConditionCreated, true, v1alpha1.ReasonCreated, "the operator has accepted the job")
}

// setRunning sets the state and the conditions of a job that has started. Running and Restarting are never both true: a restart is
// over when no replica is pending any more.
func (p *pass) setRunning(s *v1alpha1.ReplicaJobStatus, o *observed, d decision) {
	conditions, c := p.conditions(s), countsOf(s)
	p.setCreated(s)
	last := conditions.Find(v1alpha1.ConditionRestarting)
	switch wasRestarting := conditions.IsTrue(v1alpha1.ConditionRestarting); {
	case len(d.restarting) > 0:
		p.setRestarting(s, d.reason, d.message)
		return
	case wasRestarting && (c.pending > 0 || len(o.old) > 0 || d.action == actionEvaluate):
		p.setRestarting(s, last.Reason, last.Message)
		return
	case wasRestarting:
		conditions.Set(v1alpha1.ConditionRestarting, false, v1alpha1.ReasonRestarted, "all replicas are back")
	}
	reason, text := v1alpha1.ReasonPending, c.String()
	if p.world.Size() == 0 {
		text = "there are no replicas: all types have 0, and the job goes on when one of them gets some"
	}
	if c.active > 0 {
		reason, s.State = v1alpha1.ReasonRunning, v1alpha1.ReplicaJobRunning
		conditions.Set(v1alpha1.ConditionRunning, true, v1alpha1.ReasonRunning, "replicas are running")
	} else {
		s.State = v1alpha1.ReplicaJobCreated
		conditions.Set(v1alpha1.ConditionRunning, false, v1alpha1.ReasonNotRunning, "no replica is running")
	}
	conditions.Set(events.ConditionReady, false, reason, text)
}

// setRestarting sets the state and the conditions of a job of which replicas are recreated.
func (p *pass) setRestarting(s *v1alpha1.ReplicaJobStatus, reason, text string) {
	conditions := p.conditions(s)
	conditions.Set(v1alpha1.ConditionRestarting, true, reason, text)
	conditions.Set(v1alpha1.ConditionRunning, false, reason, "replicas are being recreated")
	conditions.Set(events.ConditionReady, false, reason, countsOf(s).String())
	s.State = v1alpha1.ReplicaJobRestarting
}

// setEnd sets the state and the conditions of a job that ends.
func (p *pass) setEnd(s *v1alpha1.ReplicaJobStatus, d decision) {
	s.CompletionTime = p.now.DeepCopy()
	if d.at != nil && d.at.Before(&p.now) { // clocks of nodes may be ahead
		s.CompletionTime = d.at.DeepCopy()
	}
	if s.CompletionTime.Before(s.StartTime) {
		s.CompletionTime = s.StartTime.DeepCopy()
	}
	conditions := p.conditions(s)
	conditions.Set(v1alpha1.ConditionRunning, false, d.reason, "the job has ended")
	if conditions.Find(v1alpha1.ConditionRestarting).Status != "" {
		conditions.Set(v1alpha1.ConditionRestarting, false, d.reason, "the job has ended")
	}
	s.State = v1alpha1.ReplicaJobFailed
	kind := v1alpha1.ConditionFailed
	if d.action == actionSucceed {
		s.State, kind = v1alpha1.ReplicaJobSucceeded, v1alpha1.ConditionSucceeded
	}
	conditions.Set(kind, true, d.reason, d.message)
	conditions.Conclude()
}

// setWaiting says which terminating objects of an earlier job of the same name block the creation of the job's own.
func (p *pass) setWaiting(conditions *[]metav1.Condition, pending []builder.ChildStatus) {
	var terminating []store.Key
	for _, child := range pending {
		if child.Reason == events.ReasonWaiting {
			terminating = append(terminating, child.Key)
		}
	}
	if len(terminating) > 0 {
		lifecycle.ConditionsOf(conditions, p.generation, p.now).Set(events.ConditionReady, false, events.ReasonWaiting,
			"waiting for the deletion of "+message.Names(terminating, store.Key.String))
	}
}
