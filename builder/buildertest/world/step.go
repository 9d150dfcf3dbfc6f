package world

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Controller imitates one controller of a cluster. It must be a pure function of the state: no memory, no clock, no random numbers.
// Then the order of steps is the only thing that varies between two runs.
type Controller interface {
	// Name names the controller in steps, and is its client's name in the record of calls.
	Name() string
	// Changes returns the writes that the controller can make now. Each is possible without the others, and none is a write without a
	// change. After each one the world asks again.
	Changes(s *State) []Change
}

// Step is one thing that can happen next: one write of a controller, or one pass of a manager. Two steps of the same state can be run in
// either order; a step that another has made obsolete does nothing.
type Step struct {
	// Actor is a controller's or a manager's name.
	Actor string
	// Does is a [Verb], or "reconcile", "start" or "catch up" of a manager.
	Does string
	// Kind, Namespace and Name are the object that is written or reconciled; empty for "start" and "catch up".
	Kind      schema.GroupKind
	Namespace string
	Name      string

	run func(context.Context) error
}

// String names the step in one line, such as "job-controller: create Pod default/demo-1". It is unique among the steps of a state.
func (s Step) String() string {
	if s.Kind.Kind == "" {
		return s.Actor + ": " + s.Does
	}
	key := types.NamespacedName{Namespace: s.Namespace, Name: s.Name}
	if s.Namespace == "" {
		return fmt.Sprintf("%s: %s %s %s", s.Actor, s.Does, s.Kind.Kind, s.Name)
	}
	return fmt.Sprintf("%s: %s %s %s", s.Actor, s.Does, s.Kind.Kind, key)
}

// Run runs the step. It is no error if another step came first: the object has changed, exists or is gone, or the API server refuses a
// creation, as with an exceeded quota. Its controller tries again while the reason lasts, whenever something has changed.
func (s Step) Run(ctx context.Context) error { return s.run(ctx) }

// stepOf returns the step that makes a change.
func (w *World) stepOf(actor string, with client.Client, c Change) (Step, error) {
	gvk, err := apiutil.GVKForObject(c.Object, w.scheme)
	if err != nil {
		return Step{}, err
	}
	return Step{
		Actor: actor, Does: string(c.Verb), Kind: gvk.GroupKind(), Namespace: c.Object.GetNamespace(), Name: c.Object.GetName(),
		run: func(ctx context.Context) error {
			err := c.apply(ctx, with)
			if apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("%s: %w", actor, err)
			}
			return nil
		},
	}, nil
}
