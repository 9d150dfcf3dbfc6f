package jobflow

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
	"github.com/armature-dev/armature/operators/jobflow/internal/graph"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// describe writes down what was seen and decided.
func (p *pass) describe(status *v1alpha1.JobFlowStatus) {
	p.Record.Write(status)
	status.Counts = p.counts()
	status.Flows = p.details()
	status.Items = p.itemsOnRecord()
	p.dropOutputs()
	status.Outputs = p.outputsOnRecord()
	ended := status.Counts.Succeeded + status.Counts.Failed + status.Counts.Skipped
	status.Progress = fmt.Sprintf("%d/%d", ended, status.Counts.Total)
	status.Current = p.current()

	invalid := len(p.Problems) > 0
	switch {
	case ended == status.Counts.Total && (!invalid || p.stopped) && !p.isLeaving():
		p.describeEnd(status)
	case invalid:
		p.describeInvalid(status)
	default:
		p.describeProgress(status)
	}
}

// describeEnd sets the state and the conditions of a flow that has ended.
func (p *pass) describeEnd(status *v1alpha1.JobFlowStatus) {
	status.CompletionTime = p.completionTime(status)
	p.wakeIn(p.whatComesNext(status))
	p.removeStalled(status)
	reason, message := p.whyFailed(status)
	if reason == "" {
		status.State = v1alpha1.StateSucceed
		message = endMessage(status.Counts)
		p.conditions(status).Set(events.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonSucceeded, message)
		p.conditions(status).Set(v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonSucceeded, message)
		return
	}
	status.State = v1alpha1.StateFailed
	p.setStalled(status, reason, message)
	p.conditions(status).Set(v1alpha1.ConditionFailed, metav1.ConditionTrue, reason, message)
}

// whatComesNext is when there is something to do after the end: a retry, or to clean up. 0 is never.
func (p *pass) whatComesNext(status *v1alpha1.JobFlowStatus) time.Duration {
	retention, ttl := p.spec.JobRetention, p.spec.TTLSecondsAfterFinished
	switch {
	case p.spec.Retry > p.retry, retention != "" && retention != v1alpha1.RetainAll:
		return stopDelay
	case ttl != nil:
		return max(lifecycle.Expiry(status.CompletionTime, ttl, p.seen.Now).Left, stopDelay)
	default:
		return 0
	}
}

// describeInvalid sets the conditions of a flow whose spec can't be carried out. What was started before runs on, and its
// end is put on record.
func (p *pass) describeInvalid(status *v1alpha1.JobFlowStatus) {
	message := enumerate(p.Problems, graph.Problem.String)
	if status.StartTime == nil {
		status.State = v1alpha1.StateFailed
		p.conditions(status).Set(v1alpha1.ConditionFailed, metav1.ConditionTrue, v1alpha1.ReasonInvalidSpec, message)
	} else {
		status.State = p.stateUnderWay(status.Counts)
	}
	p.setStalled(status, v1alpha1.ReasonInvalidSpec, message)
}

// describeProgress sets the state and the conditions of a flow under way.
func (p *pass) describeProgress(status *v1alpha1.JobFlowStatus) {
	p.removeStalled(status)
	status.State = p.stateUnderWay(status.Counts)
	reason, message := string(status.State), progressMessage(status.Counts)
	switch {
	case p.spec.Suspend:
		message = "spec.suspend is true; " + message
	case len(p.obstacles) > 0:
		reason = p.obstacles[0].reason
		message = enumerate(p.obstacles, obstacle.String)
	}
	p.conditions(status).Set(events.ConditionReady, metav1.ConditionFalse, reason, message)
}

// stateUnderWay sums up a flow that hasn't ended. Its reasons are called as its states.
func (p *pass) stateUnderWay(c v1alpha1.FlowCounts) v1alpha1.State {
	switch {
	case p.spec.Suspend:
		return v1alpha1.StateSuspended
	case c.Running+c.Suspended+c.Succeeded+c.Failed == 0:
		return v1alpha1.StatePending
	default:
		return v1alpha1.StateRunning
	}
}

func (p *pass) counts() v1alpha1.FlowCounts {
	var n [record.Skipped + 1]int32
	var suspended int32
	for i, s := range p.States {
		n[s]++
		if p.isSuspended(i) {
			suspended++
		}
	}
	return v1alpha1.FlowCounts{
		Total: int32(len(p.States)), Pending: n[record.Pending], Running: n[record.Running] - suspended, Suspended: suspended,
		Succeeded: n[record.Succeeded], Failed: n[record.Failed], Skipped: n[record.Skipped],
	}
}

// current names what is running, the first few of it.
func (p *pass) current() string {
	var b strings.Builder
	more := 0
	for i, s := range p.States {
		if s != record.Running || p.isSuspended(i) {
			continue
		}
		name := p.nameOf(i)
		if b.Len()+len(name) > maxCurrent {
			more++
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(name)
	}
	if more > 0 {
		fmt.Fprintf(&b, ",+%d", more)
	}
	return b.String()
}

// completionTime is when the last Job ended: later than that it was only seen.
func (p *pass) completionTime(status *v1alpha1.JobFlowStatus) *metav1.Time {
	var last *metav1.Time
	later := func(t *metav1.Time) {
		if t != nil && (last == nil || last.Before(t)) {
			last = t
		}
	}
	for _, n := range p.news {
		later(n.ended)
	}
	for i := range status.Flows {
		later(status.Flows[i].CompletionTime)
	}
	if last == nil || p.now.Before(last) {
		last = &p.now
	}
	later(status.StartTime) // the Jobs' clock may be behind ours
	return last
}

// isCalm reports whether nothing has changed but how far the nodes are.
func isCalm(before, after *v1alpha1.JobFlowStatus) bool {
	return equality.Semantic.DeepEqual(withoutProgress(before), withoutProgress(after))
}

// withoutProgress returns what of a status is worth a write of its own.
func withoutProgress(s *v1alpha1.JobFlowStatus) *v1alpha1.JobFlowStatus {
	c := copyOf(s)
	c.Progress, c.Current, c.Counts = "", "", v1alpha1.FlowCounts{}
	c.Finished, c.Failed, c.Skipped, c.NodeDigests = "", "", "", ""
	c.Flows, c.Items = nil, nil
	for i := range c.Conditions {
		if c.Conditions[i].Type == events.ConditionReady && c.Conditions[i].Reason == v1alpha1.ReasonRunning {
			c.Conditions[i].Message = ""
		}
	}
	return c
}

// patience is how long after the last write a status that is calm may be put off. The API server takes several times
// longer to write it than to create a Job, since the kind's schema is large: chains side by side would slow each other.
const patience = time.Second
