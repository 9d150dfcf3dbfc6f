package diagnose

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

// advice is the next step for a reason, at the objects whose operator has this reason. Other projects use some of the words, too.
type advice struct {
	next string
	of   func(o *Object, reason string) bool
}

// actionAdvice is the next step for reasons of the condition Ready that require a user's action, and that no rule of their own explains.
// docs/troubleshooting.md has the same steps.
var actionAdvice = map[string]advice{
	events.ReasonInvalidPlan:       {"report the message to the operator's author", ofAny},
	events.ReasonObservationFailed: {"repair what the message names; the operator tries again by itself", ofAny},
	events.ReasonEffectFailed:      {"fix the cause that the message names; the operator tries again at most 5 minutes later", ofAny},
	events.ReasonChildFailed:       {"inspect the child that the message names", ofAny},
	events.ReasonRolloutHalted: {"fix the spec or the child that the message names; delete a failed Job with RunOnce to run it again",
		ofAny},
	events.ReasonRolledBack: {"change the spec, or delete the ControllerRevision of the failed attempt to try it again", ofAny},

	v1alpha1.ReasonEditRefused: {"revert the change of the started node, or create another flow", ofBatch},
	v1alpha1.ReasonNoGangScheduler: {"install the gang scheduler, and the job continues by itself; or name another provider in the spec",
		ofAny},
	v1alpha1.ReasonMiniClusterBlocked: {"remove the blocker that the message names; the job continues by itself", ofBatch},

	// Those of packages dsoi and scaling, which this program doesn't contain.
	"NodeTypeFailed": {"inspect the pod that the message names", ofDSOI},
	"TargetNotFound": {"correct the name, or create the object", ofScaling},
	"Conflict":       {"delete one of the two objects", ofScaling},
	"SourceFailed":   {"check the URL, the Secret and the answer that the message quotes", ofScaling},
	"CannotGrow":     {"use a storage class with allowVolumeExpansion", ofScaling},
	"AtMax":          {"raise the limit, or spread the data over more nodes", ofScaling},
}

// ofAny accepts all kinds: the builder has the reason, whose authors' kinds are of any group, or the engine of replica jobs.
func ofAny(*Object, string) bool { return true }

// ofBatch accepts the kinds of this program.
func ofBatch(o *Object, _ string) bool { return o.isOurs() }

// ofDSOI accepts the clusters of package dsoi, of any kind: their status lists node types.
func ofDSOI(o *Object, _ string) bool {
	types, _, _ := unstructured.NestedSlice(o.Object, "status", "nodeTypes")
	return len(types) > 0
}

// ofScaling accepts the objects of package scaling, of any kind: their status repeats the reason at the node that it is about.
func ofScaling(o *Object, reason string) bool {
	nodes, _, _ := unstructured.NestedSlice(o.Object, "status", "nodes")
	return slices.ContainsFunc(nodes, func(node any) bool {
		fields, _ := node.(map[string]any)
		return fields["reason"] == reason
	})
}

// actionRequired: its condition Ready has a reason that requires a user's action.
func actionRequired(s subject) *Finding {
	ready := s.isFalse("Ready")
	if ready == nil || s.HasEnded() {
		return nil
	}
	advice, known := actionAdvice[ready.Reason]
	if !known || !advice.of(s.Object, ready.Reason) {
		return nil
	}
	return blocked(ready.Reason, "it can't progress: %s", ready.Message).do("%s", advice.next)
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
