package jobflow

import (
	"slices"

	"github.com/armature-dev/armature/operators/jobflow/internal/record"
)

// inferEnds puts on record nodes whose end wasn't, and whose Jobs have been deleted, if others have been started that
// needed them to succeed: a failure that is allowed is on record before anything relies on it. The status may be put off
// for a while under load; in that time a Job that has ended could be deleted, and would be made again.
func (p *pass) inferEnds() {
	for i, s := range p.States {
		if s != record.Running && !s.HasRun() || i >= p.NumFlows || p.Whens[int32(i)] != nil {
			continue
		}
		for _, d := range p.Dependencies(i) {
			if p.States[d] != record.Pending || !p.startedWithSameDependencies(i) {
				continue
			}
			if p.hasNoItems(int(d)) {
				p.end(int(d), record.Succeeded, news{message: noItems})
			} else {
				p.end(int(d), record.Succeeded, news{message: "its Job was deleted before its end was recorded; " + p.Names[i] + " had been started after it"})
			}
		}
	}
}

// hasNoItems reports whether a node is one with forEach over an empty list: no Job of it was deleted.
func (p *pass) hasNoItems(i int) bool {
	if p.node(i).ForEach == nil {
		return false
	}
	list := p.listOf(i)
	return list.err == nil && len(list.items) == 0
}

// startedWithSameDependencies reports whether the node depended on the same nodes when it was started. What was started
// before a retry says nothing: the retry may run again what it depended on, because it failed (allowFailure) or its
// output was lost.
func (p *pass) startedWithSameDependencies(i int) bool {
	is := record.Digest(p.node(i))
	if was := p.startedAs(i); was != "" {
		changed := record.ChangedFields(was, is)
		return !slices.Contains(changed, "dependencies") && !slices.Contains(changed, "when")
	}
	return p.retry == 0 && p.recorded.States[i].HasRun() && p.Digests[i].Spec == record.HashDigest(is)
}
