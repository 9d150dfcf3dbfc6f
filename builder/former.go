package builder

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/former"
	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

// Before a pass disrupts children, it keeps their state for an undo: see package undo. The order makes that safe. The builder creates the
// ControllerRevision, then names it in the owner's status, and only a pass that finds it there changes the children.

// stateKept is the error that ends a pass which has kept the state of children, under this name, instead of changing them.
type stateKept string

func (stateKept) Error() string {
	return "the former state of the children is kept; the next pass changes them"
}

// keepFormers lets the pass keep the state of children before it disrupts them. An owner without conditions has no undo, because the
// name of the state would have no record.
func (p *pass) keepFormers(settings *former.Settings) {
	if _, conditioned := p.owner.(Conditioned); conditioned {
		p.undo = settings
	}
}

// isCarriedOut reports whether an earlier pass of this process has carried out the owner's spec to its end. What the plan deletes or
// scales down since then answers to what it has observed, and not to the spec or the program.
func (p *pass) isCarriedOut() bool {
	steady, ok := p.engine.memory.Steady.Get(p.owner.GetUID())
	return ok && steady.CarriedOut == p.owner.GetGeneration()
}

// isQuiet reports whether an earlier pass of this process has found nothing to do for the owner's spec, and the owner was ready. What
// changes since then has another cause than what changed before.
func (p *pass) isQuiet() bool {
	steady, ok := p.engine.memory.Steady.Get(p.owner.GetUID())
	return ok && steady.Quiet == p.owner.GetGeneration()
}

// noteSteady remembers a pass that has carried out the spec, or has found nothing to do.
func (p *pass) noteSteady(err error) {
	if err != nil || !p.pruned {
		return
	}
	was, _ := p.engine.memory.Steady.Get(p.owner.GetUID())
	is := was
	is.CarriedOut = p.owner.GetGeneration()
	ready := meta.FindStatusCondition(*p.owner.(Conditioned).Conditions(), events.ConditionReady)
	if len(p.result.Changes) == 0 && len(p.result.Pending) == 0 && (ready == nil || ready.Status == metav1.ConditionTrue) {
		is.Quiet = p.owner.GetGeneration()
	}
	if is != was {
		p.engine.memory.Steady.Add(p.owner.GetUID(), is)
	}
}

// keepChanged keeps the state of children before writes that disrupt them, together with that of the others that change with them.
// Without undo it keeps nothing.
func (p *pass) keepChanged(ctx context.Context, writes []*apply.Write) error {
	if p.undo == nil {
		return nil
	}
	var children []former.Child
	disruptive := false
	for _, w := range writes {
		child, how, err := p.cluster.Former(w)
		if err != nil {
			return publicError(err)
		}
		if child == nil {
			continue
		}
		children = append(children, *child)
		disruptive = disruptive || how == apply.Disruptive || how == apply.ScalesDown && !p.isCarriedOut()
	}
	if !disruptive {
		return nil
	}
	return p.keep(ctx, children)
}

// keepDeleted keeps the state of children before they are pruned.
func (p *pass) keepDeleted(ctx context.Context, stale []client.Object) error {
	if len(stale) == 0 || p.isCarriedOut() {
		return nil
	}
	var children []former.Child
	for _, obj := range stale {
		k, err := p.engine.kinds.Of(obj)
		if err != nil {
			return err
		}
		child, err := p.cluster.FormerOfDeleted(k, obj)
		if err != nil {
			return publicError(err)
		}
		if child != nil {
			children = append(children, *child)
		}
	}
	if len(children) == 0 {
		return nil
	}
	return p.keep(ctx, children)
}

// keep makes sure that the state that the owner's status names has these children. It returns a [stateKept] if the status must
// name another one first.
func (p *pass) keep(ctx context.Context, children []former.Child) error {
	recorded := undoableIn(*p.owner.(Conditioned).Conditions())
	state := former.State{
		Cause:    former.Cause{Generation: p.owner.GetGeneration(), Build: p.undo.Build},
		Previous: recorded, Children: children,
	}
	if recorded != "" && !p.isQuiet() {
		was, object, err := p.readFormer(ctx, recorded)
		if err != nil {
			return err
		}
		if object != nil && was.Cause == state.Cause { // an earlier pass has changed children for the same reason
			all := was.With(children)
			if len(all.Children) == len(was.Children) {
				return p.deleteFormer(ctx, was.Previous)
			}
			state.Children = all.Children
		}
	}
	name, data, err := state.Render(former.Identity(p.engine.name, p.owner.GetUID()), p.owner.GetName())
	if err != nil {
		return &Error{Key: formerKey(p.owner, name), Operation: "create", cause: err}
	}
	if err := p.createFormer(ctx, name, data); err != nil {
		return err
	}
	p.engine.memory.Steady.Remove(p.owner.GetUID())
	return stateKept(name)
}

// createFormer creates the ControllerRevision of a state, unless it exists.
func (p *pass) createFormer(ctx context.Context, name string, data []byte) error {
	key := formerKey(p.owner, name)
	object := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: name,
			Labels:          map[string]string{wellknown.LabelManagedBy: wellknown.ManagedBy},
			Annotations:     map[string]string{wellknown.AnnotationUndo: p.engine.name},
			OwnerReferences: []metav1.OwnerReference{inventory.ControllerReference(p.owner, p.cluster.OwnerKind)},
		},
		Data: runtime.RawExtension{Raw: data}, Revision: p.owner.GetGeneration(),
	}
	exists := p.engine.client.Create(ctx, object, client.FieldOwner(p.engine.name), client.DisableReadYourWritesConsistency)
	if exists == nil {
		return nil
	}
	if !apierrors.IsAlreadyExists(exists) {
		return &Error{Key: key, Operation: "create", cause: exists, object: object}
	}
	_, found, err := p.readFormer(ctx, name)
	if err != nil || found != nil {
		return err
	}
	resource := schema.GroupResource{Group: appsv1.GroupName, Resource: "controllerrevisions"}
	return &Error{Key: key, Operation: "create", cause: apierrors.NewConflict(resource, name, exists)} // it was changed, and is deleted now
}

// readFormer returns a kept state, and its ControllerRevision; nil if there is none. It reads past the cache, so that the program needs
// neither to list nor to watch ControllerRevisions. It deletes one whose data were changed.
func (p *pass) readFormer(ctx context.Context, name string) (former.State, *appsv1.ControllerRevision, error) {
	object, err := p.getFormer(ctx, name)
	if err != nil || object == nil {
		return former.State{}, nil, err
	}
	state, err := former.Read(object, former.Identity(p.engine.name, p.owner.GetUID()))
	if err != nil {
		return former.State{}, nil, p.deleteObserved(ctx, object)
	}
	return state, object, nil
}

// getFormer returns the ControllerRevision of a name, nil if there is none. One that the owner doesn't own is an error.
func (p *pass) getFormer(ctx context.Context, name string) (*appsv1.ControllerRevision, error) {
	key, object := formerKey(p.owner, name), &appsv1.ControllerRevision{}
	err := p.engine.live.Get(ctx, key.NamespacedName(), object)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, &Error{Key: key, Operation: "read", cause: err}
	case inventory.OwnershipOf(object, p.owner, p.cluster.OwnerKind) == inventory.NotOwned:
		return nil, notOwned("read", key, object)
	}
	return object, nil
}

// deleteFormer deletes a state that another one replaces, and first the one that it has replaced: a change that was reverted before it
// was made has left that. An empty name is none.
func (p *pass) deleteFormer(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	object, err := p.getFormer(ctx, name)
	if err != nil || object == nil {
		return err
	}
	if state, err := former.Read(object, former.Identity(p.engine.name, p.owner.GetUID())); err == nil {
		if err := p.deleteFormer(ctx, state.Previous); err != nil {
			return err
		}
	}
	return p.deleteObserved(ctx, object)
}

// deleteObserved deletes a ControllerRevision as it was read.
func (p *pass) deleteObserved(ctx context.Context, object *appsv1.ControllerRevision) error {
	err := p.engine.client.Delete(ctx, object, client.DisableReadYourWritesConsistency,
		client.Preconditions{UID: new(object.GetUID()), ResourceVersion: new(object.GetResourceVersion())})
	if client.IgnoreNotFound(err) != nil {
		return &Error{Key: formerKey(p.owner, object.Name), Operation: "delete", cause: err, object: object}
	}
	return nil
}

func formerKey(owner client.Object, name string) store.Key {
	return store.KeyOf(appsv1.SchemeGroupVersion.WithKind("ControllerRevision"), owner.GetNamespace(), name)
}

// isFormer reports whether a ControllerRevision has a kept state, which the plan doesn't desire and pruning must leave.
func isFormer(object client.Object, controller string) bool {
	r, ok := object.(*appsv1.ControllerRevision)
	return ok && r.Annotations[wellknown.AnnotationUndo] == controller
}

// recordFormer writes the name of the kept state to the owner's status. It runs instead of the rest of a pass.
func (r *reconciler[T]) recordFormer(ctx context.Context, p *operatorPass[T], owner T, kept stateKept) (reconcile.Result, error) {
	r.engine.emitResult(owner, "", p.finish(nil), nil)
	after := withOwnConditions(owner)
	meta.SetStatusCondition(any(after).(Conditioned).Conditions(), metav1.Condition{
		Type: events.ConditionUndoable, Status: metav1.ConditionTrue, Reason: events.ReasonStateKept, Message: string(kept),
		ObservedGeneration: owner.GetGeneration(), LastTransitionTime: metav1.NewTime(r.now()),
	})
	p.err = r.engine.writeChangedStatus(ctx, owner, after)
	return r.next(ctx, conflictDelay, p.err)
}

// undoableIn returns the name of the kept state, empty for none.
func undoableIn(conditions []metav1.Condition) string {
	c := meta.FindStatusCondition(conditions, events.ConditionUndoable)
	if c == nil || c.Status != metav1.ConditionTrue {
		return ""
	}
	return c.Message
}

// withUndoable returns an owner whose conditions name the kept state, also if the plan sets all conditions itself. It changes neither
// argument.
func withUndoable[T client.Object](owner, after T) T {
	planned, ok := any(after).(Conditioned)
	if !ok {
		return after
	}
	was := meta.FindStatusCondition(*any(owner).(Conditioned).Conditions(), events.ConditionUndoable)
	if was == nil {
		return after
	}
	if set := meta.FindStatusCondition(*planned.Conditions(), events.ConditionUndoable); set != nil && *set == *was {
		return after
	}
	after = withOwnConditions(after)
	conditions := any(after).(Conditioned).Conditions()
	meta.RemoveStatusCondition(conditions, events.ConditionUndoable)
	*conditions = append(*conditions, *was)
	return after
}
