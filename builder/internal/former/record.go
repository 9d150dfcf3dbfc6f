package former

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/revision"
	"github.com/armature-dev/armature/internal/wellknown"
)

// Record keeps the former states of one owner, each in a ControllerRevision. Its errors are each a failure.Error.
type Record struct{ revision.Objects }

// IsRecord reports whether a ControllerRevision keeps a former state. No plan desires it, and pruning must leave it.
func IsRecord(object *appsv1.ControllerRevision) bool {
	return object.Annotations[wellknown.AnnotationUndo] != ""
}

// Keep makes sure that a state is kept. named is the state that the owner's status names, empty for none. If its cause is the same, and
// the owner wasn't quiet since, the children are added to it. Keep returns the name of the state that the status must name before the
// children change; empty: it names it already.
func (r *Record) Keep(ctx context.Context, named string, quiet bool, state State) (name string, err error) {
	state.Previous = named
	if named != "" && !quiet {
		was, object, err := r.read(ctx, named)
		if err != nil {
			return "", err
		}
		if object != nil && was.Cause == state.Cause { // an earlier pass has changed children for the same reason
			all := was.With(state.Children)
			if len(all.Children) == len(was.Children) {
				return "", r.delete(ctx, was.Previous)
			}
			state.Children = all.Children
		}
	}
	name, data, err := state.Render(r.identity(), r.Owner.GetName())
	if err != nil {
		return "", &failure.Error{Key: r.Key(name), Operation: "create", Err: err}
	}
	return name, r.create(ctx, name, data)
}

// create creates the ControllerRevision of a state, unless it exists.
func (r *Record) create(ctx context.Context, name string, data []byte) error {
	object := r.New(name, data, wellknown.AnnotationUndo, r.Controller, r.Owner.GetGeneration())
	exists := r.Client.Create(ctx, object, client.FieldOwner(r.Controller), client.DisableReadYourWritesConsistency)
	if exists == nil {
		return nil
	}
	if !apierrors.IsAlreadyExists(exists) {
		return &failure.Error{Key: r.Key(name), Operation: "create", Err: exists, Object: object}
	}
	_, found, err := r.read(ctx, name)
	if err != nil || found != nil {
		return err
	}
	return r.Conflict(name, exists) // it was changed, and is deleted now
}

// Get returns the ControllerRevision of a name, nil if there is none. One that the owner doesn't own is an error.
func (r *Record) Get(ctx context.Context, name string) (*appsv1.ControllerRevision, error) {
	object, err := r.Find(ctx, name)
	if object != nil && r.IsOthers(object) {
		return nil, failure.NotOwned("read", r.Key(name), object)
	}
	return object, err
}

// StateOf returns the state in a ControllerRevision. The error says what is damaged.
func (r *Record) StateOf(object *appsv1.ControllerRevision) (State, error) {
	return Read(object, r.identity())
}

// read returns a state and its ControllerRevision, nil if there is none. It deletes one whose data were changed.
func (r *Record) read(ctx context.Context, name string) (State, *appsv1.ControllerRevision, error) {
	object, err := r.Get(ctx, name)
	if err != nil || object == nil {
		return State{}, nil, err
	}
	state, err := r.StateOf(object)
	if err != nil {
		return State{}, nil, r.deleteObserved(ctx, object)
	}
	return state, object, nil
}

// delete deletes a state that another one replaces, and first the one that it has replaced: a change that was reverted before it was made
// has left that. An empty name is none.
func (r *Record) delete(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	object, err := r.Get(ctx, name)
	if err != nil || object == nil {
		return err
	}
	if state, err := r.StateOf(object); err == nil {
		if err := r.delete(ctx, state.Previous); err != nil {
			return err
		}
	}
	return r.deleteObserved(ctx, object)
}

// deleteObserved deletes a ControllerRevision as it was read.
func (r *Record) deleteObserved(ctx context.Context, object *appsv1.ControllerRevision) error {
	err := r.Client.Delete(ctx, object, client.DisableReadYourWritesConsistency,
		client.Preconditions{UID: new(object.GetUID()), ResourceVersion: new(object.GetResourceVersion())})
	if client.IgnoreNotFound(err) != nil {
		return &failure.Error{Key: r.Key(object.Name), Operation: "delete", Err: err, Object: object}
	}
	return nil
}

func (r *Record) identity() string { return Identity(r.Controller, r.Owner.GetUID()) }
