package jobflow

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/message"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// details returns the states of nodes one by one: of all in a small flow; in a large one of the first that are running
// and the last that failed.
func (p *pass) details() []v1alpha1.FlowStatus {
	before := make(map[string]*v1alpha1.FlowStatus, len(p.flow.Status.Flows))
	for i := range p.flow.Status.Flows {
		before[p.flow.Status.Flows[i].Name] = &p.flow.Status.Flows[i]
	}
	var all []v1alpha1.FlowStatus
	for _, i := range p.worthDetail(before) {
		name := p.nameOf(i)
		if name == "" || p.Index[name] != int32(i) && i < p.Size() {
			continue // a namesake, in an invalid spec
		}
		all = append(all, p.detail(i, name, before[name]))
	}
	return all
}

// worthDetail returns the nodes to be shown, in their order.
func (p *pass) worthDetail(before map[string]*v1alpha1.FlowStatus) []int {
	room := roomFor(len(p.States))
	var active, bad []int
	if len(p.States) <= room.all {
		for i := range p.States {
			if i < p.Size() || p.news[i].job != nil {
				active = append(active, i)
			}
		}
		return active
	}
	for i, s := range p.States {
		switch {
		case s == record.Running && len(active) < room.running:
			active = append(active, i)
		case s == record.Failed && (p.news[i].ended != nil || before[p.nameOf(i)] != nil):
			bad = append(bad, i)
		}
	}
	slices.SortStableFunc(bad, func(a, b int) int { // the last first
		return p.endOf(b, before).Compare(p.endOf(a, before).Time)
	})
	worth := append(active, bad[:min(len(bad), room.failed)]...)
	slices.Sort(worth)
	return worth
}

// endOf returns when a node that has failed did.
func (p *pass) endOf(i int, before map[string]*v1alpha1.FlowStatus) *metav1.Time {
	if t := p.news[i].ended; t != nil {
		return t
	}
	if b := before[p.nameOf(i)]; b != nil && b.CompletionTime != nil {
		return b.CompletionTime
	}
	return &metav1.Time{}
}

var statesInAPI = [...]v1alpha1.FlowState{
	record.Pending: v1alpha1.FlowPending, record.Running: v1alpha1.FlowRunning,
	record.Succeeded: v1alpha1.FlowSucceed, record.Failed: v1alpha1.FlowFailed, record.Skipped: v1alpha1.FlowSkipped,
}

// detail returns the state of one node, from what was known of it before and what is new.
func (p *pass) detail(i int, name string, before *v1alpha1.FlowStatus) v1alpha1.FlowStatus {
	if before == nil {
		before = &v1alpha1.FlowStatus{}
	}
	s := v1alpha1.FlowStatus{Name: name, State: statesInAPI[p.States[i]], Attempts: before.Attempts}
	if p.isSuspended(i) {
		s.State = v1alpha1.FlowSuspended
	}
	wasUnderWay := before.State == v1alpha1.FlowRunning || before.State == v1alpha1.FlowSuspended
	n, isNew := p.news[i]
	s.Message = message.CutJSON(n.message, maxNodeMessage)
	if i < len(p.jobs) && n.job == nil {
		n.job = p.jobs[i]
	}
	if p.States[i] != record.Pending && p.States[i] != record.Skipped && before.State == s.State && !isNew {
		s = *before // nothing new
		if p.States[i] == record.Running && p.items[i] == nil {
			s.Message = "" // what it waited for has come
		}
		return s
	}
	if p.States[i] == record.Running && p.items[i] != nil && !isNew {
		s.Message = before.Message
	}
	if p.States[i] == record.Pending || p.States[i] == record.Skipped {
		if p.States[i] == record.Skipped && !isNew {
			s.Message = before.Message
		}
		return s
	}
	switch {
	case n.job != nil:
		s.Job = n.job.Name
		if !n.job.CreationTimestamp.IsZero() {
			s.StartTime = n.job.CreationTimestamp.DeepCopy()
		}
	case p.items[i] != nil:
		s.Job = p.JobNames[i]
		if s.StartTime = before.StartTime; s.StartTime == nil || !wasUnderWay {
			s.StartTime = p.now.DeepCopy()
		}
	}
	if !wasUnderWay && s.Job != "" {
		s.Attempts = before.Attempts + 1
	}
	if p.States[i].HasRun() && s.Job != "" {
		s.CompletionTime = cmp.Or(n.ended, &p.now).DeepCopy()
	}
	return s
}
