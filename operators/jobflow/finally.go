package jobflow

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// What the containers of nodes in finally get to know of the flow.
const (
	envFlowStatus = "FLOW_STATUS"
	envFlowFailed = "FLOW_FAILED"
)

// decideFinally starts the nodes in finally, once all others have ended, and their Jobs are gone or have ended, too. What
// they are told of the others goes on record first, and holds from then on: after a crash a Job may come to light that
// wasn't seen before, of a node that was taken for skipped.
func (p *pass) decideFinally(status *v1alpha1.JobFlowStatus) {
	if p.Size() == p.NumFlows || !p.haveEnded(p.States) || p.held {
		return
	}
	isOnRecord := status.Outcome != nil
	if !isOnRecord {
		status.Outcome = p.outcomeOfFlows()
	}
	if !isOnRecord || !p.haveEnded(p.recorded.States) {
		p.urgent = true
		p.wakeIn(stopDelay)
		return
	}
	if p.isLeaving() || p.finallyWaitsForPods() {
		return
	}
	for i := p.NumFlows; i < p.Size(); i++ {
		if p.States[i].HasEnded() || (p.States[i] == record.Running && p.jobs[i] != nil) {
			continue
		}
		if x := p.Whens[int32(i)]; x != nil && p.States[i] == record.Pending {
			if p.givesWay() {
				return
			}
			if ready, message := p.evaluate(i, x, status.Outcome.State); !ready {
				if message != "" {
					p.end(i, record.Skipped, news{message: message})
				}
				continue
			}
		}
		p.run(i)
	}
}

// isLeaving reports whether there are Jobs that have to go before the flow goes on.
func (p *pass) isLeaving() bool {
	leaving := false
	if p.stopped {
		p.eachActiveFlowJob(func(*batchv1.Job) { leaving = true })
	}
	return leaving
}

// outcomeOfFlows is what came of all but finally.
func (p *pass) outcomeOfFlows() *v1alpha1.FlowsOutcome {
	var names []string
	most := roomFor(p.Size()).failedNames
	for i := 0; i < p.NumFlows && len(names) < most; i++ {
		if p.States[i] == record.Failed {
			names = append(names, p.Names[i])
		}
	}
	o := &v1alpha1.FlowsOutcome{State: v1alpha1.StateSucceed, Failed: strings.Join(names, ",")}
	if reason, _ := p.flowsFailed(); reason != "" || p.stopped {
		o.State = v1alpha1.StateFailed
	}
	return o
}

// finallyEnv is what the containers of a node in finally get to know.
func (p *pass) finallyEnv() []corev1.EnvVar {
	told := p.flow.Status.Outcome // on record, or decideFinally would not have come this far
	return []corev1.EnvVar{
		{Name: envFlowStatus, Value: string(told.State)},
		{Name: envFlowFailed, Value: told.Failed},
	}
}
