package jobflow

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// Variables of the containers of nodes in finally.
const (
	envFlowStatus = "FLOW_STATUS"
	envFlowFailed = "FLOW_FAILED"
)

// decideFinally starts the nodes in finally, once all others have ended and their Jobs are gone or have ended, too. The status first
// records the outcome that finally gets, and that holds from then on: after a crash, a pass may observe a Job of a node that an
// earlier one has recorded as skipped.
func (p *pass) decideFinally(o *observed, d *decision) {
	if p.Size() == p.NumFlows || !p.haveEnded(p.States) || p.spec.Suspend {
		return
	}
	if p.last.Outcome == nil {
		d.outcome = p.outcomeOfFlows(d)
	}
	if p.last.Outcome == nil || !p.haveEnded(p.recorded.States) {
		p.urgent = true
		p.requeueIn(lifecycle.Shortly)
		return
	}
	if p.waitsForStopped(o, d) || p.finallyWaitsForPods(o, d) {
		return
	}
	for i := p.NumFlows; i < p.Size(); i++ {
		if p.States[i].HasEnded() || (p.States[i] == record.Running && o.jobs[i] != nil) {
			continue
		}
		if x := p.Whens[int32(i)]; x != nil && p.States[i] == record.Pending {
			if p.givesWay(d) {
				return
			}
			if ready, message := p.evaluate(d, i, x, p.last.Outcome.State); !ready {
				if message != "" {
					p.end(i, record.Skipped, finding{message: message})
				}
				continue
			}
		}
		p.run(o, d, i)
	}
}

// waitsForStopped reports whether Jobs of a stopped flow still exist that must end before the flow continues.
func (p *pass) waitsForStopped(o *observed, d *decision) bool {
	waits := false
	if d.stopped {
		p.eachActiveFlowJob(o, func(*batchv1.Job) { waits = true })
	}
	return waits
}

// outcomeOfFlows returns the outcome of all nodes but those in finally.
func (p *pass) outcomeOfFlows(d *decision) *v1alpha1.FlowsOutcome {
	var names []string
	most := limitsFor(p.Size()).failureNames
	for i := 0; i < p.NumFlows && len(names) < most; i++ {
		if p.States[i] == record.Failed {
			names = append(names, p.Names[i])
		}
	}
	o := &v1alpha1.FlowsOutcome{State: v1alpha1.StateSucceed, Failed: strings.Join(names, ",")}
	if reason, _ := p.flowsFailed(); reason != "" || d.stopped {
		o.State = v1alpha1.StateFailed
	}
	return o
}

// finallyEnv returns the variables that tell the containers of a node in finally the outcome.
func (p *pass) finallyEnv() []corev1.EnvVar {
	outcome := p.last.Outcome // decideFinally starts nothing before it is recorded
	return []corev1.EnvVar{
		{Name: envFlowStatus, Value: string(outcome.State)},
		{Name: envFlowFailed, Value: outcome.Failed},
	}
}

// finallyWaitsForPods reports whether finally waits for a pod of a stopped Job.
func (p *pass) finallyWaitsForPods(o *observed, d *decision) bool {
	if !d.stopped || o.firstLeftover == nil {
		return false
	}
	for i := p.NumFlows; i < p.Size(); i++ {
		if p.States[i] == record.Pending {
			p.waitFor(i, o.firstLeftover)
		}
	}
	return true
}
