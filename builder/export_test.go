package builder

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/former"
	"github.com/armature-dev/armature/builder/internal/inflight"
	"github.com/armature-dev/armature/builder/internal/turns"
)

// NotReady returns the children of a result that aren't ready.
func NotReady(r Result) []ChildStatus { return r.notReady() }

// RolloutFailure returns the child that stops a roll-out; nil if none does.
func RolloutFailure(r Result) *ChildStatus { return r.rolloutFailure() }

// Contested returns the children of a result that another writer changes repeatedly.
func Contested(r Result) []ChildStatus { return r.contested() }

// SetConditions sets the standard conditions from a result, as Engine.ReportStatus does.
func (r Result) SetConditions(conditions *[]metav1.Condition, generation int64, err error, now time.Time) {
	r.setConditions(conditions, generation, err, now)
}

// UntilStop returns a reconciler as it runs in a manager that may stop.
var UntilStop = untilStop

// Quarantined gives an operator without a manager the record of a quarantine; package quarantine does so for those of a manager.
func Quarantined[T client.Object](o *Operator[T], record *inflight.Record) *Operator[T] {
	o.inFlight = record
	return o
}

// Keeping gives an operator without a manager the settings of the former states for an undo; package undo does so for those of a manager.
func Keeping[T client.Object](o *Operator[T], settings former.Settings) *Operator[T] {
	o.former = &settings
	return o
}

// InTurns gives an operator without a manager the settings of the roll-out of a new build; package release does so for those of a
// manager.
func InTurns[T client.Object](o *Operator[T], settings turns.Settings) *Operator[T] {
	o.turns = &settings
	return o
}

// Metric returns the value of a counter or gauge, 0 if there is none.
func Metric(t *testing.T, name string, labels map[string]string) float64 {
	t.Helper()
	return metric(t, name, labels)
}

// DiffOf returns what the next pass of an operator's reconciler would do over an owner, as Operator.Diff does in a manager.
func DiffOf(ctx context.Context, r reconcile.Reconciler, owner types.NamespacedName) (Result, error) {
	return r.(interface {
		diff(context.Context, types.NamespacedName) (Result, error)
	}).diff(ctx, owner)
}
