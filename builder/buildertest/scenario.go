package buildertest

import (
	"cmp"
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// DefaultMaxRounds bounds a run of a Scenario that sets no bound.
const DefaultMaxRounds = 100

// Scenario is an operator, the cluster that it starts in, and what is asked of it.
type Scenario struct {
	// Reconciler makes what is tested, on a client that stands for a new process: nothing may be carried over from one
	// call to the next. The client is also a client.FieldIndexer, and its Now is the clock. Required.
	Reconciler func(c *Client) (reconcile.Reconciler, error)
	// Objects exist at the start. They need their UIDs only if one refers to another.
	Objects []client.Object
	// Requests are what is reconciled, in this order, in each round. Required.
	Requests []reconcile.Request
	// World plays the rest of the cluster, after each round: see [CompleteJobs], [RollOut] and [InOrder]. It must do the
	// same in the same state, and nothing once there is nothing to do. Nil: nothing else happens.
	World World

	// Then is what happens once nothing changes any more: the spec changes, someone deletes a child, an hour passes. Each
	// step is taken once, after all has settled again, whatever crashes; see [Change]. Nil: that is the end.
	Then []World

	// Scheme has the kinds. Default: client-go's.
	Scheme *runtime.Scheme
	// Options are of each server.
	Options []Option
	// Lag is how many changes the operator's reads are behind, until nothing else changes. Its own writes it sees, as a
	// manager's client does with EnableReadYourWritesConsistency, unless LagOwnWrites is set. Default: none.
	Lag int
	// LagOwnWrites lets the operator not see its own writes at once.
	LagOwnWrites bool
	// ClockStands keeps the server's clock where it is. Default: while something changes it stands; once nothing does it is
	// moved to the soonest RequeueAfter (a second, if there is an error or a lag), up to three times without a change in
	// between. So what an operator does after an hour is done in the end state, and one that looks again every minute ends.
	ClockStands bool
	// MaxRounds bounds a run, and each step of Then; a run that changes something in each round has no fixed point, which is
	// a failure.
	// Default: DefaultMaxRounds.
	MaxRounds int
	// Tolerate says which errors may remain when nothing changes any more. Default: those of reconcile.TerminalError, but
	// for a wrong plan (reason InvalidPlan), which is the program's own fault.
	Tolerate func(error) bool
	// Normalize makes objects of two runs comparable, after UIDs, versions, times and managed fields were taken out. It
	// may change the object; false leaves it out. Default: all objects are compared, but for events.
	Normalize func(obj *unstructured.Unstructured) bool
	// Foreign says which of the Objects the operator must not write to. Default: all but those that are requested, and
	// those that one that is requested controls.
	Foreign func(obj client.Object) bool
}

// World does what the rest of a cluster does, with a client that never crashes.
type World func(ctx context.Context, c client.Client) error

// InOrder is a World of several.
func InOrder(worlds ...World) World {
	return func(ctx context.Context, c client.Client) error {
		for _, w := range worlds {
			if err := w(ctx, c); err != nil {
				return err
			}
		}
		return nil
	}
}

// Change is a World, for [Scenario.Then], that changes an object as a user does who edits it: like names it, change is given
// it as it is on the server. It is an error if there is no such object.
//
//	Then: []buildertest.World{buildertest.Change(app, func(app *v1.WebApp) { app.Spec.Greeting = "bye" })}
func Change[T client.Object](like T, change func(T)) World {
	return func(ctx context.Context, c client.Client) error {
		obj := like.DeepCopyObject().(T)
		if err := c.Get(ctx, client.ObjectKeyFromObject(like), obj); err != nil {
			return err
		}
		change(obj)
		return c.Update(ctx, obj)
	}
}

func (s Scenario) withDefaults() (*Scenario, error) {
	d := &s
	if d.Reconciler == nil || len(d.Requests) == 0 {
		return nil, errors.New("a Scenario needs a Reconciler and Requests")
	}
	d.Scheme = cmp.Or(d.Scheme, scheme.Scheme)
	d.MaxRounds = cmp.Or(d.MaxRounds, DefaultMaxRounds)
	if d.World == nil {
		d.World = func(context.Context, client.Client) error { return nil }
	}
	if d.Tolerate == nil {
		d.Tolerate = isTerminal
	}
	if d.Normalize == nil {
		d.Normalize = func(obj *unstructured.Unstructured) bool { return obj.GetKind() != "Event" }
	}
	if d.Foreign == nil {
		d.Foreign = d.isForeign
	}
	return d, nil
}

// isForeign reports whether an object of the start is neither requested nor controlled by one that is.
func (s *Scenario) isForeign(obj client.Object) bool {
	if s.isRequested(obj) {
		return false
	}
	ref := metav1.GetControllerOfNoCopy(obj)
	if ref == nil {
		return true
	}
	for _, o := range s.Objects {
		if o.GetUID() == ref.UID && s.isRequested(o) {
			return false
		}
	}
	return true
}

func (s *Scenario) isRequested(obj client.Object) bool {
	for _, r := range s.Requests {
		if r.NamespacedName == client.ObjectKeyFromObject(obj) {
			return true
		}
	}
	return false
}

// newServer returns a server in the state of the start.
func (s *Scenario) newServer() (*Server, error) {
	server := NewServer(s.Scheme, s.Options...)
	for _, obj := range s.Objects {
		if err := server.Add(obj); err != nil {
			return nil, err
		}
	}
	return server, nil
}
