package controlcmd

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/diagnose"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

// action is a change of an object that a command makes: of a field of its spec, or of an annotation.
type action struct {
	verb, done string
	short      string
	long       string
	example    string
	// fields are the fields to set, by kind; nil for an annotation of any kind.
	fields map[string][]string
	// set changes the object, or returns the reason why the action isn't possible in its state.
	set func(obj *unstructured.Unstructured, field []string) error
}

var (
	suspendFields = map[string][]string{
		"JobFlow": {"spec", "suspend"}, "DaemonJob": {"spec", "suspend"}, "ReplicaJob": {"spec", "runPolicy", "suspend"},
		"MiniCluster": {"spec", "suspend"}, "FluxJob": {"spec", "suspend"},
	}
	retryFields     = map[string][]string{"JobFlow": {"spec", "retry"}, "DaemonJob": {"spec", "retry"}}
	terminateFields = map[string][]string{"JobFlow": {"spec", "terminate"}}
)

var actions = []action{
	{
		verb: "suspend", done: "suspended", fields: suspendFields, set: suspend,
		short:   "Suspend objects until they are resumed",
		long:    "Suspend objects until they are resumed. Nothing new starts, and running pods are stopped; ended pods stay unchanged.",
		example: "  armature suspend jobflow/nightly\n  armature suspend dj,jf -l team=a",
	},
	{
		verb: "resume", done: "resumed", fields: suspendFields, set: resume,
		short:   "Resume suspended objects",
		long:    "Resume suspended objects.",
		example: "  armature resume jobflow/nightly",
	},
	{
		verb: "terminate", done: "terminated", fields: terminateFields, set: terminate,
		short: "Terminate running flows",
		long: "Terminate running flows: running Jobs are stopped and count as failed, nodes that haven't started are skipped, " +
			"and finally runs. Unlike kubectl delete, it keeps the flow with the record of its Jobs.",
		example: "  armature terminate jobflow/nightly",
	},
	{
		verb: "retry", done: "retried", fields: retryFields, set: retryOnce,
		short: "Run failed and unstarted nodes again",
		long: "Run the failed and unstarted nodes of failed flows and of failed or paused DaemonJobs again. " +
			"Succeeded nodes don't run again.",
		example: "  armature retry jobflow/nightly",
	},
	{
		verb: "pause", done: "paused", set: pause,
		short: "Stop the operator's writes for objects until armature unpause",
		long: "Pause objects of any kind whose operator is written with Armature: their operator writes nothing for them " +
			"until armature unpause. Running pods continue: unlike suspend, pause stops no work. It protects objects during an upgrade or a " +
			"manual intervention. It doesn't delay a deletion. Kubernetes' own kinds, such as Pods, Deployments, ConfigMaps and Nodes, " +
			"can't be paused: pause the object that owns them.",
		example: "  armature pause jobflow/nightly\n  armature pause webapps --all",
	},
	{
		verb: "unpause", done: "unpaused", set: unpause,
		short: "Restart the operator's writes for paused objects",
		long: "Restart the operator's writes for paused objects. The operator then restores the desired state of their children. " +
			"During a roll-out of a new version, it also makes the changes of that version at once: an unpaused object doesn't wait for its " +
			"turn, so unpause a few at a time.",
		example: "  armature unpause jobflow/nightly",
	},
	{
		verb: "undo", done: "paused, returning to its former state", set: undo,
		short: "Return to the state before the last disruptive change, and pause",
		long: "Return objects to the state before the last change that restarted pods, deleted or recreated a child, or scaled down. " +
			"The operator restores that state and writes nothing else until armature unpause, when it applies the spec again. It keeps " +
			"the state with builder/undo. The condition Undoable of the object names the state, and the condition Undone reports whether it " +
			"is restored.",
		example: "  armature undo minicluster/nightly\n  kubectl wait --for=condition=Undone minicluster/nightly",
	},
}

// pause sets the annotation that stops the operator's writes for an object.
func pause(obj *unstructured.Unstructured, _ []string) error {
	if obj.GetDeletionTimestamp() != nil {
		return errDeleted
	}
	if ignoresPause(obj.GroupVersionKind().GroupKind()) {
		return unpausable(obj)
	}
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[wellknown.AnnotationPaused] = "true"
	obj.SetAnnotations(annotations)
	return nil
}

// ignoresPause reports whether objects of a kind are Kubernetes' own: no operator written with Armature works on them.
func ignoresPause(kind schema.GroupKind) bool {
	return kind.Group == "" || kind.Group == "apiextensions.k8s.io" || diagnose.IgnoresPause(kind)
}

// unpausable returns the reason why an object that no operator written with Armature works on can't be paused.
func unpausable(obj *unstructured.Unstructured) error {
	reason := fmt.Sprintf("the controller of a %s is part of Kubernetes and ignores a pause", obj.GetKind())
	if !diagnose.IgnoresPause(obj.GroupVersionKind().GroupKind()) {
		reason = fmt.Sprintf("a %s is a kind of Kubernetes, which ignores a pause", obj.GetKind())
	}
	owner := metav1.GetControllerOf(obj)
	if owner != nil && !ignoresPause(schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind()) {
		return fmt.Errorf("%s; pause %s/%s, which owns it", reason, owner.Kind, owner.Name)
	}
	return fmt.Errorf("%s; accepted is a kind whose operator is written with Armature", reason)
}

// unpause removes the annotations of pause and undo.
func unpause(obj *unstructured.Unstructured, _ []string) error {
	if obj.GetDeletionTimestamp() != nil {
		return errDeleted
	}
	annotations := obj.GetAnnotations()
	delete(annotations, wellknown.AnnotationPaused)
	delete(annotations, wellknown.AnnotationUndo)
	obj.SetAnnotations(annotations)
	return nil
}

// undo requests the former state that the operator has kept.
func undo(obj *unstructured.Unstructured, _ []string) error {
	name := ""
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, c := range conditions {
		if fields, ok := c.(map[string]any); ok && fields["type"] == events.ConditionUndoable && fields["status"] == "True" {
			name, _ = fields["message"].(string)
		}
	}
	if name == "" {
		return &unneeded{fmt.Sprintf("nothing to undo: it has no condition %s, because its operator has disrupted no child since its "+
			"creation, or keeps no former state", events.ConditionUndoable)}
	}
	if err := pause(obj, nil); err != nil {
		return err
	}
	annotations := obj.GetAnnotations()
	annotations[wellknown.AnnotationUndo] = name
	obj.SetAnnotations(annotations)
	return nil
}

// suspend suspends an object that has not ended.
func suspend(obj *unstructured.Unstructured, field []string) error {
	if err := isOver(obj); err != nil {
		return err
	}
	return unstructured.SetNestedField(obj.Object, true, field...)
}

// resume ends a suspension, if there is one.
func resume(obj *unstructured.Unstructured, field []string) error {
	if obj.GetDeletionTimestamp() != nil {
		return errDeleted
	}
	on, _, err := unstructured.NestedBool(obj.Object, field...)
	if err != nil || !on {
		return err
	}
	return unstructured.SetNestedField(obj.Object, false, field...)
}

// isOver returns an error for an object that has ended without a pending retry, or that is being deleted.
func isOver(obj *unstructured.Unstructured) error {
	if obj.GetDeletionTimestamp() != nil {
		return errDeleted
	}
	asked, _, _ := unstructured.NestedInt64(obj.Object, "spec", "retry")
	done, _, _ := unstructured.NestedInt64(obj.Object, "status", "retry")
	if at, _, _ := unstructured.NestedString(obj.Object, "status", "completionTime"); at != "" && asked <= done {
		return &unneeded{fmt.Sprintf("it has ended already: its state is %s", stateOf(obj))}
	}
	return nil
}

// unneeded is the reason why an action has no purpose for an object: what it would stop has ended, or what it would repeat or undo
// isn't there.
// It is an error for an object that the user names; a selection skips the object.
type unneeded struct{ reason string }

func (u *unneeded) Error() string { return u.reason }

var errDeleted = errors.New("it is being deleted")

func terminate(obj *unstructured.Unstructured, field []string) error {
	if err := isOver(obj); err != nil {
		return err
	}
	if state := stateOf(obj); isUnstarted(obj) && state == v1alpha1.StateFailed {
		return fmt.Errorf("it has not started: its state is %s, because its spec is invalid", state)
	}
	return unstructured.SetNestedField(obj.Object, true, field...)
}

// isUnstarted reports whether an object has never started.
func isUnstarted(obj *unstructured.Unstructured) bool {
	at, _, _ := unstructured.NestedString(obj.Object, "status", "startTime")
	return at == ""
}

// retryOnce requests a retry, if there are failed nodes. It also clears spec.terminate of a terminated flow.
func retryOnce(obj *unstructured.Unstructured, field []string) error {
	if obj.GetDeletionTimestamp() != nil {
		return errDeleted
	}
	asked, _, err := unstructured.NestedInt64(obj.Object, field...)
	if err != nil {
		return err
	}
	done, _, err := unstructured.NestedInt64(obj.Object, "status", "retry")
	if err != nil {
		return err
	}
	if done < asked {
		return fmt.Errorf("an earlier retry hasn't started yet: %s is %d, status.retry is %d",
			strings.Join(field, "."), asked, done)
	}
	if isUnstarted(obj) && stateOf(obj) == v1alpha1.StateFailed {
		return errors.New("it has not started, because its spec is invalid: correct the spec, and it starts")
	}
	if !hasFailed(obj) {
		return &unneeded{fmt.Sprintf("it has no failed nodes: its state is %s", stateOf(obj))}
	}
	if on, found, _ := unstructured.NestedBool(obj.Object, terminateFields["JobFlow"]...); found && on {
		if err := unstructured.SetNestedField(obj.Object, false, terminateFields["JobFlow"]...); err != nil {
			return err
		}
	}
	return unstructured.SetNestedField(obj.Object, asked+1, field...)
}

// hasFailed reports whether there are failed nodes. A DaemonJob can continue after failures, or pause.
func hasFailed(obj *unstructured.Unstructured) bool {
	if obj.GetKind() == "DaemonJob" {
		nodes, _, err := unstructured.NestedInt64(obj.Object, "status", "failed")
		if err == nil && nodes > 0 {
			return true
		}
	}
	return stateOf(obj) == v1alpha1.StateFailed
}

func stateOf(obj *unstructured.Unstructured) v1alpha1.State {
	state, _, _ := unstructured.NestedString(obj.Object, "status", "state")
	if state == "" {
		return v1alpha1.StatePending
	}
	return v1alpha1.State(state)
}

// fieldOf returns the field of an object that an action sets.
func (a action) fieldOf(obj *unstructured.Unstructured) ([]string, error) {
	if a.fields == nil {
		if obj.GroupVersionKind().GroupKind() == (schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: "JobTemplate"}) {
			return nil, errors.New("no operator works on a JobTemplate: accepted is another kind")
		}
		return nil, nil
	}
	field, ok := a.fields[obj.GetKind()]
	if !ok || obj.GroupVersionKind().Group != v1alpha1.GroupVersion.Group {
		return nil, fmt.Errorf("a %s can't be %s; supported kinds: %s", obj.GetKind(), a.done, a.kinds())
	}
	return field, nil
}

// kinds lists the kinds that support an action.
func (a action) kinds() string {
	if a.fields == nil {
		return "all kinds whose operator is written with Armature"
	}
	return strings.Join(slices.Sorted(maps.Keys(a.fields)), ", ")
}

// completed are the kinds as they are typed.
func (a action) completed() []string {
	kinds := a.fields
	if kinds == nil {
		kinds = suspendFields // those of the bundled operators
	}
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		all = append(all, strings.ToLower(kind))
	}
	return all
}
