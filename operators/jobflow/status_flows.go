package jobflow

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/message"
	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// details returns the status of single nodes: of all nodes of a small flow; of a large one, of the first that run and the last that
// failed.
func (p *pass) details(o *observed) []v1alpha1.FlowStatus {
	before := make(map[string]*v1alpha1.FlowStatus, len(p.flow.Status.Flows))
	for i := range p.flow.Status.Flows {
		before[p.flow.Status.Flows[i].Name] = &p.flow.Status.Flows[i]
	}
	var all []v1alpha1.FlowStatus
	for _, i := range p.shown(before) {
		name := p.nameOf(i)
		if name == "" || p.Index[name] != int32(i) && i < p.Size() {
			continue // another node has the same name, in an invalid spec
		}
		all = append(all, p.detail(o, i, name, before[name]))
	}
	return all
}

// shown returns the nodes that have a status of their own, by index.
func (p *pass) shown(before map[string]*v1alpha1.FlowStatus) []int {
	limits := limitsFor(len(p.States))
	var active, bad []int
	if len(p.States) <= limits.details {
		for i := range p.States {
			if i < p.Size() || p.findings[i].job != nil {
				active = append(active, i)
			}
		}
		return active
	}
	for i, s := range p.States {
		switch {
		case s == record.Running && len(active) < limits.running:
			active = append(active, i)
		case s == record.Failed && (p.findings[i].ended != nil || before[p.nameOf(i)] != nil):
			bad = append(bad, i)
		}
	}
	slices.SortStableFunc(bad, func(a, b int) int { // the last first
		return p.endOf(b, before).Compare(p.endOf(a, before).Time)
	})
	nodes := slices.Concat(active, bad[:min(len(bad), limits.failed)])
	slices.Sort(nodes)
	return nodes
}

// endOf returns when a failed node ended.
func (p *pass) endOf(i int, before map[string]*v1alpha1.FlowStatus) *metav1.Time {
	if t := p.findings[i].ended; t != nil {
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

// detail returns the status of one node, from its recorded status and what this pass has found out.
func (p *pass) detail(o *observed, i int, name string, before *v1alpha1.FlowStatus) v1alpha1.FlowStatus {
	if before == nil {
		before = &v1alpha1.FlowStatus{}
	}
	s := v1alpha1.FlowStatus{Name: name, State: statesInAPI[p.States[i]], Attempts: before.Attempts}
	if p.isSuspended(o, i) {
		s.State = v1alpha1.FlowSuspended
	}
	wasUnderWay := before.State == v1alpha1.FlowRunning || before.State == v1alpha1.FlowSuspended
	found, isNew := p.findings[i]
	s.Message = message.CutJSON(found.message, maxNodeMessage)
	if i < len(o.jobs) && found.job == nil {
		found.job = o.jobs[i]
	}
	switch state := p.States[i]; {
	case state == record.Pending:
		return s
	case state == record.Skipped:
		if !isNew {
			s.Message = before.Message
		}
		return s
	case before.State == s.State && !isNew:
		s = *before // unchanged
		if state == record.Running {
			s.Message = p.progressOfItems(i) // what it waited for has come
		}
		return s
	case state == record.Running && !isNew:
		s.Message = p.progressOfItems(i)
	}
	switch {
	case found.job != nil:
		s.Job = found.job.Name
		if !found.job.CreationTimestamp.IsZero() {
			s.StartTime = found.job.CreationTimestamp.DeepCopy()
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
		s.CompletionTime = cmp.Or(found.ended, &p.now).DeepCopy()
	}
	return s
}

// progressOfItems describes how far the items of a node are; empty without items.
func (p *pass) progressOfItems(i int) string {
	r := p.items[i]
	if r == nil {
		return ""
	}
	text := fmt.Sprintf("%d of %d items succeeded", r.Count(record.Succeeded), len(r.States))
	if bad := r.Count(record.Failed); bad > 0 {
		text += fmt.Sprintf(", %d failed", bad)
	}
	return text
}

// limits bound the parts of a status, in bytes of JSON, so that all of it stays below 100 KiB. The more nodes there are, the more the
// record takes, and the less is left for the rest: at 10,000 nodes the record takes up to 76 KB, that is intervals of 4.9 bytes an index if
// each stands alone, and digests of 4.
type limits struct {
	details      int // flows of up to so many nodes have a status for each node;
	running      int // larger ones have so many for running nodes,
	failed       int // and so many for failed ones
	outputs      int // of all outputs together
	items        int // of the items of all running and failed nodes together
	failureNames int // names of failed nodes that finally gets
}

func limitsFor(nodes int) limits {
	l := limits{details: 100, running: 10, failed: 5, outputs: 24 << 10, items: 12 << 10, failureNames: 100}
	if nodes > 1000 {
		l.outputs, l.items, l.failureNames = 4<<10, 6<<10+256, 10
	}
	return l
}

const (
	// maxMessage bounds the messages of conditions and events.
	maxMessage = 1024
	// maxNodeMessage bounds the messages of single nodes.
	maxNodeMessage = 256
	// maxCurrent bounds the list of the nodes that run.
	maxCurrent = 120
)

// enumerate lists the first few things and counts the rest, up to maxMessage.
func enumerate[T any](things []T, describe func(T) string) string {
	return message.CutJSON(message.List(things, describe), maxMessage)
}
