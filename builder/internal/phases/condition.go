package phases

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder/internal/status"
	"github.com/armature-dev/armature/events"
)

// Anyone who can create ControllerRevisions in a namespace can fabricate one that is marked as completed, under any field manager. So
// the builder keeps the name of the completed revision in the owner's status.

// SetRolledOut records the completed revision. Empty, for a pass that failed before it knew the revision, changes nothing.
func SetRolledOut(conditions *[]metav1.Condition, name string, generation int64, now time.Time) {
	if name != "" {
		meta.SetStatusCondition(conditions,
			status.Condition(events.ConditionRolledOut, true, events.ReasonRolloutCompleted, name, generation, now))
	}
}

// KeepRolledOut records the completed revision beside the conditions that a plan sets. was are those of the observed owner.
func KeepRolledOut(conditions *[]metav1.Condition, was []metav1.Condition, name string, generation int64, now time.Time) {
	set, recorded := meta.FindStatusCondition(*conditions, events.ConditionRolledOut), meta.FindStatusCondition(was, events.ConditionRolledOut)
	switch {
	case set != nil && (name == "" || set.Message == name && set.Status == metav1.ConditionTrue):
		return
	case set == nil && recorded != nil:
		*conditions = append(*conditions, *recorded)
	}
	SetRolledOut(conditions, name, generation, now)
}
