package jobflow

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// What the containers of nodes in finally get to know of the flow.
const (
	envFlowStatus = "FLOW_STATUS"
	envFlowFailed = "FLOW_FAILED"
	// maxFailedNames bounds the names in FLOW_FAILED.
	maxFailedNames = 100
)

// decideFinally starts the nodes in finally, once all others have ended, and their Jobs are gone or have ended, too. That
// must be on record: what they are told of the flow must not change any more.
func (p *pass) decideFinally() {
	if p.size() == p.flows || !p.haveEnded(p.states) || p.isLeaving() {
		return
	}
	if !p.haveEnded(p.recorded.states) {
		p.urgent = true
		p.wakeIn(stopDelay)
		return
	}
	for i := p.flows; i < p.size(); i++ {
		if p.states[i].hasEnded() || (p.states[i] == running && p.jobs[i] != nil) {
			continue
		}
		if x := p.whens[int32(i)]; x != nil && p.states[i] == pending {
			if ready, message := p.evaluate(i, x, p.outcomeOfFlows()); !ready {
				if message != "" {
					p.end(i, skipped, news{message: message})
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
func (p *pass) outcomeOfFlows() v1alpha1.State {
	if p.failure >= 0 || p.stopped {
		return v1alpha1.StateFailed
	}
	return v1alpha1.StateSucceed
}

// finallyEnv is what the containers of a node in finally get to know.
func (p *pass) finallyEnv() []corev1.EnvVar {
	var names []string
	for i := 0; i < p.flows && len(names) < maxFailedNames; i++ {
		if p.states[i] == failed {
			names = append(names, p.names[i])
		}
	}
	return []corev1.EnvVar{
		{Name: envFlowStatus, Value: string(p.outcomeOfFlows())},
		{Name: envFlowFailed, Value: strings.Join(names, ",")},
	}
}
