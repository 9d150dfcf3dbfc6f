package builder

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/events"
)

// checkPlan reports what is wrong in a plan whatever the state of the cluster. What is wrong with a single child is found
// when it is applied.
func checkPlan[T client.Object](d *declarations, owner T, plan Plan[T]) error {
	return errors.Join(
		d.checkChildren(plan.Children), d.checkPrune(plan.Prune), checkPhases(d, plan), checkTimes(plan), checkStatus(owner, plan),
		checkEvents(plan.Events))
}

// checkPhases reports phases whose revisions would not be seen, and what is meant for phases without any.
func checkPhases[T client.Object](d *declarations, plan Plan[T]) error {
	switch {
	case len(plan.Rollout.Phases) > 0 && !d.types[fromOwned][reflect.TypeFor[*appsv1.ControllerRevision]()]:
		return fmt.Errorf("%w: Plan.Rollout.Phases keeps ControllerRevisions, a kind that the operator doesn't own; "+
			"add Owns(&appsv1.ControllerRevision{}) to the operator", ErrMisuse)
	case len(plan.Rollout.Phases) == 0 && (plan.Rollout.AlertAfter != 0 || plan.Rollout.RollbackAfter != 0):
		return fmt.Errorf("%w: Plan.Rollout has AlertAfter %s and RollbackAfter %s, and no Phases; they are about phases",
			ErrMisuse, plan.Rollout.AlertAfter, plan.Rollout.RollbackAfter)
	case len(plan.Rollout.Phases) == 0 && plan.Rollout.InstallInOrder:
		return fmt.Errorf("%w: Plan.Rollout has InstallInOrder, and no Phases; it is about phases", ErrMisuse)
	default:
		return nil
	}
}

// checkTimes reports times below zero: mostly the difference of two times that was meant to be positive.
func checkTimes[T client.Object](plan Plan[T]) error {
	var errs []error
	if plan.RequeueAfter < 0 && !plan.DeleteOwner { // an owner whose time is up has no other pass
		errs = append(errs, fmt.Errorf("%w: Plan.RequeueAfter is %s; it must be positive, or 0 for no pass before something changes",
			ErrMisuse, plan.RequeueAfter))
	}
	if plan.StatusCanWait < 0 {
		errs = append(errs, fmt.Errorf("%w: Plan.StatusCanWait is %s; it must be positive, or 0 for a status that is written at once",
			ErrMisuse, plan.StatusCanWait))
	}
	return errors.Join(errs...)
}

// checkStatus reports a status that can't be the owner's, and what needs conditions of an owner without.
func checkStatus[T client.Object](owner T, plan Plan[T]) error {
	var errs []error
	if len(plan.WaitingFor) > 0 && !plan.Report {
		errs = append(errs, fmt.Errorf("%w: Plan.WaitingFor needs Plan.Report, which tells of it", ErrMisuse))
	}
	if slices.Contains(plan.WaitingFor, "") {
		errs = append(errs, fmt.Errorf("%w: Plan.WaitingFor has an empty text; it must say what the plan waits for", ErrMisuse))
	}
	if _, ok := any(owner).(Conditioned); plan.Finish != nil && !ok {
		errs = append(errs, fmt.Errorf("%w: Plan.Finish needs an owner with conditions; %T is no builder.Conditioned", ErrMisuse, owner))
	}
	if _, ok := any(owner).(Conditioned); plan.Report && !ok {
		errs = append(errs, fmt.Errorf("%w: Plan.Report needs an owner with conditions; %T is no builder.Conditioned", ErrMisuse, owner))
	}
	after := plan.Status
	if kinds.IsNil(after) {
		return errors.Join(errs...)
	}
	another := (after.GetUID() != "" && after.GetUID() != owner.GetUID()) ||
		(after.GetName() != "" && (after.GetName() != owner.GetName() || after.GetNamespace() != owner.GetNamespace()))
	if another {
		errs = append(errs, fmt.Errorf("%w: Plan.Status is of %s, UID %q; it must be a copy of the owner %s, UID %q", ErrMisuse,
			client.ObjectKeyFromObject(after), after.GetUID(), client.ObjectKeyFromObject(owner), owner.GetUID()))
	}
	return errors.Join(errs...)
}

// checkEvents reports events that the API server would refuse, which no one would hear of.
func checkEvents(all []events.Event) error {
	var errs []error
	for _, ev := range all {
		switch {
		case ev.Reason == "":
			errs = append(errs, fmt.Errorf("%w: Plan.Events has one without a reason; its note is %q", ErrMisuse, ev.Note))
		case ev.Type != "" && ev.Type != corev1.EventTypeNormal && ev.Type != corev1.EventTypeWarning:
			errs = append(errs, fmt.Errorf("%w: Plan.Events: %s is of type %q; it must be Normal or Warning", ErrMisuse, ev.Reason, ev.Type))
		case isNilPointer(ev.Related):
			errs = append(errs, fmt.Errorf("%w: Plan.Events: %s is about a nil %T; leave Related empty or give an object",
				ErrMisuse, ev.Reason, ev.Related))
		}
	}
	return errors.Join(errs...)
}

// isNilPointer reports whether there is an object that is a nil pointer.
func isNilPointer(obj runtime.Object) bool {
	v := reflect.ValueOf(obj)
	return v.IsValid() && v.Kind() == reflect.Pointer && v.IsNil()
}

// checkPrune reports kinds to prune that are not declared: of those children are neither seen nor looked for when they
// change.
func (d *declarations) checkPrune(objs []client.Object) error {
	var errs []error
	for _, obj := range objs {
		if kinds.IsNil(obj) {
			continue // reported when it is pruned
		}
		if !d.home.has(obj) && !d.away.has(obj) {
			errs = append(errs, fmt.Errorf("%w: Plan.Prune has %s, a kind that the operator doesn't own; add %s to the operator",
				ErrMisuse, kindName(obj), ownsLine("Owns", obj)))
		}
	}
	return errors.Join(errs...)
}

// checkChildren reports children of kinds whose changes no one would see.
func (d *declarations) checkChildren(children []Child) error {
	var errs []error
	var last placed // most are of the kind of the one before
	for i := range children {
		c := &children[i]
		if kinds.IsNil(c.object) {
			continue // reported when it is applied
		}
		as := placed{reflect.TypeOf(c.object), c.crossNamespace, c.retained()}
		if as == last && !kinds.IsUntyped(c.object) {
			continue
		}
		last = as
		if err := d.checkChild(c); err != nil && len(errs) < maxMisuses {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// placed is what tells whether a child has been declared.
type placed struct {
	kind                     reflect.Type
	crossNamespace, retained bool
}

func (d *declarations) checkChild(c *Child) error {
	ok, line := d.home.has(c.object), "Owns"
	switch {
	case c.crossNamespace:
		ok, line = d.away.has(c.object) || d.watched.has(c.object), "OwnsCrossNamespace"
	case c.retained():
		ok = ok || d.watched.has(c.object)
	}
	if ok {
		return nil
	}
	return fmt.Errorf("%w: %s is a child of a kind that the operator doesn't own, so that its changes are never seen; add %s to the operator",
		ErrMisuse, nameOf(c.object), ownsLine(line, c.object))
}

// ownsLine is the line that declares the kind of a child.
func ownsLine(method string, obj client.Object) string {
	if !kinds.IsUntyped(obj) {
		return method + "(" + literal(reflect.TypeOf(obj)) + ")"
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	return fmt.Sprintf("%s(obj), obj being an *unstructured.Unstructured of apiVersion %s and kind %s", method, gvk.GroupVersion(), gvk.Kind)
}
