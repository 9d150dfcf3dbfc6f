package builder

import (
	"context"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Senses lets an operator look at what is outside of the cluster, a metric or an endpoint, before each plan: what look
// returns is in the view, see [Sensed]. So the plan stays a pure function. look runs in the operator's worker, which
// does nothing else until it returns: it must end with its context, have a time limit of its own, and remember what it
// need not ask anew, since passes come for many reasons. It must change neither the owner nor what is in the view. It
// isn't asked about an owner that is being deleted. An error fails the pass before the plan; what a plan should tell of,
// such as an endpoint that is down, is no error but a part of the result.
func (o *Operator[T]) Senses(look func(ctx context.Context, owner T, seen View) (any, error)) *Operator[T] {
	o.sense = look
	return o
}

// Sensed returns what the operator [Operator.Senses], if it is an S.
func Sensed[S any](v View) (S, bool) {
	s, ok := v.sensed.(S)
	if !ok {
		v.checkSensed(reflect.TypeFor[S]())
	}
	return s, ok
}

// WithSensed returns the view with something that was sensed, for tests of plans.
func (v View) WithSensed(sensed any) View {
	v.sensed = sensed
	return v
}

// lookOutside puts into the view what is sensed.
func (l *loop[T]) lookOutside(ctx context.Context, owner T, v *View) (err error) {
	if l.sense != nil && client.Object(owner).GetDeletionTimestamp() == nil {
		v.sensed, err = l.sense(ctx, owner, *v)
	}
	return err
}
