package admission

import (
	"context"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
)

// Validator judges objects of a kind by its operator's plan. T is a pointer to a struct with a field Spec.
type Validator[T builder.Conditioned] struct {
	kind string
	plan builder.PlanFunc[T]
	now  func() time.Time
}

// ValidateCreate refuses an object that the plan would call invalid, and warns of fields that have no effect.
func (v Validator[T]) ValidateCreate(ctx context.Context, obj T) (admission.Warnings, error) {
	return v.judgeBy(ctx, obj)
}

// ValidateUpdate refuses a spec that the plan would call invalid. An object that is invalid already may change in all but
// its spec, or it couldn't even be deleted.
func (v Validator[T]) ValidateUpdate(ctx context.Context, before, after T) (admission.Warnings, error) {
	if after.GetDeletionTimestamp() != nil || equality.Semantic.DeepEqual(specOf(before), specOf(after)) {
		return nil, nil
	}
	return v.judgeBy(ctx, after)
}

// judgeBy refuses what reading the review has left no time for.
func (v Validator[T]) judgeBy(ctx context.Context, obj T) (admission.Warnings, error) {
	if ctx.Err() != nil {
		return nil, apierrors.NewTimeoutError("the review took longer than the API server waits", 1)
	}
	warnings, err := v.judge(ctx, obj)
	if ctx.Err() != nil { // the plan may have returned early
		return nil, apierrors.NewTimeoutError("judging the object took longer than the API server waits", 1)
	}
	return warnings, err
}

// ValidateDelete lets everything go.
func (v Validator[T]) ValidateDelete(context.Context, T) (admission.Warnings, error) { return nil, nil }

func specOf(obj any) any { return reflect.ValueOf(obj).Elem().FieldByName("Spec").Interface() }

func (v Validator[T]) judge(ctx context.Context, obj T) (admission.Warnings, error) {
	now := v.now()
	view := builder.View{Now: now}.WithContext(ctx)
	plan := v.plan(asNew(obj), view)
	after := plan.Status
	if started, ok := asStarted(obj, now); ok {
		after = v.plan(started.(T), view).Status
	}
	if reflect.ValueOf(after).IsNil() {
		return nil, nil
	}
	why := refusalIn(after)
	if why == "" {
		return warningsIn(plan.Events), nil
	}
	return nil, apierrors.NewInvalid(v1alpha1.GroupVersion.WithKind(v.kind).GroupKind(), obj.GetName(), field.ErrorList{{
		Type: field.ErrorTypeInvalid, Field: "spec", BadValue: field.OmitValueType{}, Detail: why,
	}})
}

// warningsIn returns what a plan says of fields that have no effect.
func warningsIn(told []events.Event) admission.Warnings {
	var all admission.Warnings
	for _, e := range told {
		if e.Reason == v1alpha1.ReasonFieldIgnored {
			all = append(all, e.Note)
		}
	}
	return all
}

// refusalIn returns why a status says that the spec is invalid; nothing, if it doesn't say so.
func refusalIn(obj builder.Conditioned) string {
	stalled := meta.FindStatusCondition(*obj.Conditions(), events.ConditionStalled)
	if stalled == nil || stalled.Status != metav1.ConditionTrue || stalled.Reason != v1alpha1.ReasonInvalidSpec {
		return ""
	}
	return stalled.Message
}

// asNew returns the object as if it had just been created: what has become of the former spec says nothing of this one.
func asNew[T builder.Conditioned](obj T) T {
	fresh := obj.DeepCopyObject().(T)
	reflect.ValueOf(fresh).Elem().FieldByName("Status").SetZero()
	return fresh
}
