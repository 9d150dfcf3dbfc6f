package plancheck

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/events"
)

// maxReason is the longest reason of an event that the API server accepts.
const maxReason = 128

// Plan has the fields of a builder.Plan, except the children, that can be invalid by themselves, under the same names.
type Plan struct {
	Prune          []client.Object
	Phases         []string
	InstallInOrder bool
	AlertAfter     time.Duration
	RollbackAfter  time.Duration
	Status         client.Object
	Conditions     []metav1.Condition // of the status
	Known          []metav1.Condition // of the owner, which the API server has accepted
	StatusCanWait  time.Duration
	Report         bool
	WaitingFor     []string
	HasFinish      bool
	Events         []events.Event
	DeleteOwner    bool
	RequeueAfter   time.Duration
}

// Check returns the errors of a plan for an owner. conditioned is true for a builder.Conditioned owner.
func (p *Plan) Check(d *Declared, owner client.Object, conditioned bool) error {
	return errors.Join(
		d.checkPrune(p.Prune), p.checkPhases(d), p.checkTimes(), p.checkReport(owner, conditioned), p.checkStatus(owner), p.checkConditions(),
		p.checkEvents())
}

// checkPhases returns an error for phases without an owned ControllerRevision, and for options of phases without phases.
func (p *Plan) checkPhases(d *Declared) error {
	switch {
	case len(p.Phases) > 0 && !d.types[Owned][reflect.TypeFor[*appsv1.ControllerRevision]()]:
		return fmt.Errorf("%w: Plan.Rollout.Phases keeps ControllerRevisions, a kind that the operator doesn't own; "+
			"add Owns(&appsv1.ControllerRevision{}) to the operator", failure.ErrMisuse)
	case len(p.Phases) == 0 && (p.AlertAfter != 0 || p.RollbackAfter != 0):
		return fmt.Errorf("%w: Plan.Rollout has AlertAfter %s and RollbackAfter %s, and no Phases; they are about phases",
			failure.ErrMisuse, p.AlertAfter, p.RollbackAfter)
	case len(p.Phases) == 0 && p.InstallInOrder:
		return fmt.Errorf("%w: Plan.Rollout has InstallInOrder, and no Phases; it is about phases", failure.ErrMisuse)
	default:
		return nil
	}
}

// checkTimes returns an error for negative times. Mostly they are a reversed difference of two times.
func (p *Plan) checkTimes() error {
	var errs []error
	if p.RequeueAfter < 0 && !p.DeleteOwner { // a deleted owner has no later pass
		errs = append(errs, fmt.Errorf("%w: Plan.RequeueAfter is %s; it must be positive, or 0 for no pass before something changes",
			failure.ErrMisuse, p.RequeueAfter))
	}
	if p.StatusCanWait < 0 {
		errs = append(errs, fmt.Errorf("%w: Plan.StatusCanWait is %s; it must be positive, or 0 for a status that is written at once",
			failure.ErrMisuse, p.StatusCanWait))
	}
	return errors.Join(errs...)
}

// checkReport returns an error for options that need conditions if the owner has none, and for an incomplete WaitingFor.
func (p *Plan) checkReport(owner client.Object, conditioned bool) error {
	var errs []error
	if len(p.WaitingFor) > 0 && !p.Report {
		errs = append(errs, fmt.Errorf("%w: Plan.WaitingFor needs Plan.Report, which tells of it", failure.ErrMisuse))
	}
	if slices.Contains(p.WaitingFor, "") {
		errs = append(errs, fmt.Errorf("%w: Plan.WaitingFor has an empty text; it must say what the plan waits for", failure.ErrMisuse))
	}
	if p.HasFinish && !conditioned {
		errs = append(errs, fmt.Errorf("%w: Plan.Finish needs an owner with conditions; %T is no builder.Conditioned", failure.ErrMisuse, owner))
	}
	if p.Report && !conditioned {
		errs = append(errs, fmt.Errorf("%w: Plan.Report needs an owner with conditions; %T is no builder.Conditioned", failure.ErrMisuse, owner))
	}
	return errors.Join(errs...)
}

// checkStatus returns an error for a status that can't be the owner's.
func (p *Plan) checkStatus(owner client.Object) error {
	if kinds.IsNil(p.Status) {
		return nil
	}
	return CheckStatus("Plan.Status", owner, p.Status)
}

// CheckStatus returns an error for an object with the owner's new status that isn't the owner.
func CheckStatus(what string, owner, after client.Object) error {
	another := (after.GetUID() != "" && after.GetUID() != owner.GetUID()) ||
		(after.GetName() != "" && (after.GetName() != owner.GetName() || after.GetNamespace() != owner.GetNamespace()))
	if !another {
		return nil
	}
	return fmt.Errorf("%w: %s is of %s, UID %q; it must be a copy of the owner %s, UID %q", failure.ErrMisuse, what,
		client.ObjectKeyFromObject(after), after.GetUID(), client.ObjectKeyFromObject(owner), owner.GetUID())
}

// checkConditions returns an error for new conditions that the API server would refuse, with the whole status and all that it reports.
func (p *Plan) checkConditions() error {
	if slices.Equal(p.Conditions, p.Known) {
		return nil
	}
	if errs := validation.ValidateConditions(p.Conditions, field.NewPath("status", "conditions")); len(errs) > 0 {
		return fmt.Errorf("%w: Plan.Status: %w", failure.ErrMisuse, errs.ToAggregate())
	}
	return nil
}

// checkEvents returns an error for events that the API server would refuse, because nobody would see that error.
func (p *Plan) checkEvents() error {
	var errs []error
	for _, ev := range p.Events {
		switch {
		case ev.Reason == "":
			errs = append(errs, fmt.Errorf("%w: Plan.Events has one without a reason; its note is %q", failure.ErrMisuse, ev.Note))
		case ev.Type != "" && ev.Type != corev1.EventTypeNormal && ev.Type != corev1.EventTypeWarning:
			errs = append(errs, fmt.Errorf("%w: Plan.Events: %s is of type %q; it must be Normal or Warning", failure.ErrMisuse, ev.Reason, ev.Type))
		case len(ev.Reason) > maxReason:
			errs = append(errs, fmt.Errorf("%w: Plan.Events: the reason %.32q... has %d characters; the API server takes at most %d",
				failure.ErrMisuse, ev.Reason, len(ev.Reason), maxReason))
		case ev.Related != nil && kinds.IsNil(ev.Related):
			errs = append(errs, fmt.Errorf("%w: Plan.Events: %s is about a nil %T; leave Related empty or give an object",
				failure.ErrMisuse, ev.Reason, ev.Related))
		}
	}
	return errors.Join(errs...)
}
