package builder

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
)

// Rollout tells how far the roll-out of the owner's phased children was after the last pass, and false if none was ever
// completed. The operator must have &appsv1.ControllerRevision{} in Owns. Phase is known of roll-outs with Rollback
// only, and may be an earlier one by now; RollsBackAt is not known.
func (v View) Rollout() (Rollout, bool) {
	var last, newest *appsv1.ControllerRevision
	var of rolloutRecord
	for _, rev := range Owned[*appsv1.ControllerRevision](v) {
		var record rolloutRecord
		if json.Unmarshal([]byte(rev.Annotations[AnnotationRollout]), &record) != nil {
			continue // not of a roll-out
		}
		if record.State == RolloutCompleted && (last == nil || last.Revision < rev.Revision) {
			last = rev
		}
		if newest == nil || newest.Revision < rev.Revision {
			newest, of = rev, record
		}
	}
	if last == nil {
		return Rollout{}, false
	}
	return Rollout{
		State: of.State, From: last.Name, To: newest.Name, Phase: of.Phase, Why: of.Why,
		StartedAt: timeOf(of.StartedAt), FinishedAt: timeOf(of.FinishedAt),
	}, true
}
