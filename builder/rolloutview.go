package builder

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
)

// Rollout tells how far the roll-out of the owner's phased children was after the last pass, and false if none was ever
// completed. The operator must have &appsv1.ControllerRevision{} in Owns. Phase is known of roll-outs with Alert and
// Rollback only, and may be an earlier one by now; RollsBackAt is not known. What a plan's own pass comes to, Plan.Finish
// is told.
func (v View) Rollout() (Rollout, bool) {
	var before, last, newest *appsv1.ControllerRevision
	var of rolloutRecord
	for _, rev := range Owned[*appsv1.ControllerRevision](v) {
		var record rolloutRecord
		if json.Unmarshal([]byte(rev.Annotations[AnnotationRollout]), &record) != nil {
			continue // not of a roll-out
		}
		if record.State == RolloutCompleted {
			before, last = newerOf(before, last, rev)
		}
		if newest == nil || newest.Revision < rev.Revision {
			newest, of = rev, record
		}
	}
	if last == nil {
		return Rollout{}, false
	}
	return Rollout{
		State: of.State, From: last.Name, Before: nameOfRevision(before), To: newest.Name, Phase: of.Phase, Why: of.Why,
		StartedAt: timeOf(of.StartedAt), FinishedAt: timeOf(of.FinishedAt),
	}, true
}

// newerOf returns the two newest of three revisions, of which last is newer than before; nil is none.
func newerOf(before, last, rev *appsv1.ControllerRevision) (*appsv1.ControllerRevision, *appsv1.ControllerRevision) {
	switch {
	case last == nil || last.Revision < rev.Revision:
		return last, rev
	case before == nil || before.Revision < rev.Revision:
		return rev, last
	default:
		return before, last
	}
}

func nameOfRevision(rev *appsv1.ControllerRevision) string {
	if rev == nil {
		return ""
	}
	return rev.Name
}
