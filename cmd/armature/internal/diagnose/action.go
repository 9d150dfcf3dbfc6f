package diagnose

import (
	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

// actionAdvice is the next step for reasons of the condition Ready that require a user's action, and that no rule of their own explains.
// docs/troubleshooting.md has the same steps.
var actionAdvice = map[string]string{
	events.ReasonInvalidPlan:       "report the message to the operator's author",
	events.ReasonObservationFailed: "repair what the message names; the operator tries again by itself",
	events.ReasonEffectFailed:      "fix the cause that the message names; the operator tries again at most 5 minutes later",
	events.ReasonChildFailed:       "inspect the child that the message names",
	events.ReasonRolloutHalted: "fix the spec or the child that the message names; delete a failed Job with RunOnce to run it " +
		"again",
	events.ReasonRolledBack: "change the spec, or delete the ControllerRevision of the failed attempt to try it again",

	v1alpha1.ReasonEditRefused:        "revert the change of the started node, or create another flow",
	v1alpha1.ReasonNoGangScheduler:    "install the gang scheduler, and the job continues by itself; or name another provider in the spec",
	v1alpha1.ReasonMiniClusterBlocked: "remove the blocker that the message names; the job continues by itself",

	// Those of packages dsoi and scaling, which this program doesn't contain.
	"NodeTypeFailed": "inspect the pod that the message names",
	"TargetNotFound": "correct the name, or create the object",
	"Conflict":       "delete one of the two objects",
	"SourceFailed":   "check the URL, the Secret and the answer that the message quotes",
	"CannotGrow":     "use a storage class with allowVolumeExpansion",
	"AtMax":          "raise the limit, or spread the data over more nodes",
}

// actionRequired: its condition Ready has a reason that requires a user's action.
func actionRequired(s subject) *Finding {
	ready := s.isFalse("Ready")
	if ready == nil || s.HasEnded() {
		return nil
	}
	advice, known := actionAdvice[ready.Reason]
	if !known {
		return nil
	}
	return blocked(ready.Reason, "it can't progress: %s", ready.Message).do("%s", advice)
}

// quarantined: the manager ended unexpectedly while it worked on the object, and postpones it. So its status can be of an older spec
// although a manager runs.
func quarantined(s subject) *Finding {
	ready := s.isFalse("Ready")
	if ready == nil || ready.Reason != events.ReasonQuarantined || len(s.goneManagers()) > 0 {
		return nil
	}
	return blocked(ready.Reason, "its manager postpones it: %s", ready.Message).
		do("if it happened once, wait; otherwise make the object smaller, delete it, or give the manager more memory: "+
			"kubectl describe pods -A -l %s has the cause", managerLabel)
}
