package builder

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

// CreateOnly creates a child that doesn't exist, and leaves an existing one as it is. Use it for run-to-completion objects such as
// Jobs and Pods. An existing object costs one cache lookup, a new one costs one POST and one copy. It gets the owner as its
// controller and the builder's label, and no digest. Plan.Edits changes one that exists.
//
// All else is as for other children. An object of that name that isn't the owner's is [ErrNotOwned]; with
// [Adopt] one without a controller becomes the owner's by a patch of that and the label, and of nothing else. One that is being
// deleted is waited for, and then created again. It is pruned when it is no longer desired.
//
// Options that are about changes are [ErrMisuse] beside it: [Ignore], [HashFrom], [OnImmutable], [InPhase], and former
// managers of [Adopt].
func CreateOnly() ChildOption { return createOnly{} }

type createOnly struct{}

func (createOnly) applyToChild(c *Child) { c.once = true }

// checkOnce refuses options that mean nothing for a child that is never changed.
func (d *desired) checkOnce() error {
	option, how := "", d.child.how
	switch {
	case d.child.phase != "" && d.child.run == nil:
		return fmt.Errorf("%w: %s has InPhase beside CreateOnly: what follows would not know whether it has run; "+
			"for a Job there is RunOnce(value)", ErrMisuse, d.key)
	case how == nil:
		return nil
	case len(how.Ignored) > 0:
		option = "Ignore"
	case len(how.ConfigOf) > 0:
		option = "HashFrom"
	case how.KeepImmutable || how.Recreate != nil:
		option = "OnImmutable"
	case slices.ContainsFunc(how.Former, func(manager string) bool { return manager != fieldmanager.KubectlApply }):
		option = "a former manager of Adopt"
	default:
		return nil
	}
	return fmt.Errorf("%w: %s has %s, which is about changes, beside CreateOnly, which makes none", ErrMisuse, d.key, option)
}

// showFields lets a dry run show what would be created.
func (d *desired) showFields() (err error) {
	if d.fields != nil {
		return nil
	}
	if d.fields, err = payload.Of(d.object, d.kind.GVK); err != nil {
		return fmt.Errorf("%w: %w", ErrMisuse, err)
	}
	return nil
}

// compareOnce says which action an existing object needs: none, unless it has lost its label.
func (p *pass) compareOnce(w *write) *write {
	w.action = actionNone
	if w.desired.lacksMark(w.observed) {
		w.action = actionApply
		p.holdContested(w)
	}
	return w
}

// lacksMark reports whether an object has lost the label by which caches may be filtered.
func (d *desired) lacksMark(found client.Object) bool {
	if found.GetLabels()[wellknown.LabelManagedBy] == wellknown.ManagedBy {
		return false
	}
	own, set := d.child.object.GetLabels()[wellknown.LabelManagedBy]
	return !set || own == wellknown.ManagedBy
}

// takeAsItIs gives an object the builder's label, and the owner as its controller if no one controls it: then only if
// it is still the observed one.
func (w *write) takeAsItIs(ctx context.Context, p *pass) error {
	d, e := w.desired, p.engine
	changed, operation, did := map[string]any{"uid": w.observed.GetUID()}, "apply", events.ReasonUpdated
	if d.lacksMark(w.observed) {
		changed["labels"] = map[string]string{wellknown.LabelManagedBy: wellknown.ManagedBy}
	}
	if w.adopts {
		operation, did = "adopt", events.ReasonAdopted
		changed["resourceVersion"] = w.observed.GetResourceVersion()
		refs := slices.DeleteFunc(slices.Clone(w.observed.GetOwnerReferences()), func(r metav1.OwnerReference) bool {
			return r.UID == p.owner.GetUID()
		})
		changed["ownerReferences"] = append(refs, inventory.ControllerReference(p.owner, p.ownerKind))
	}
	body, err := json.Marshal(map[string]any{"metadata": changed})
	if err != nil {
		return err
	}
	obj, err := e.kinds.Empty(d.kind)
	if err != nil {
		return err
	}
	obj.SetNamespace(d.key.Namespace)
	obj.SetName(d.key.Name)
	err = e.client.Patch(ctx, obj, client.RawPatch(types.MergePatchType, body), client.FieldOwner(e.name))
	switch {
	case apierrors.IsNotFound(err):
		w.action = actionWait // the next pass makes it
		return nil
	case err != nil:
		return &Error{Key: d.key, Operation: operation, Err: err, object: w.observed}
	case e.dry:
		return w.recordDryRun(ctx, p, obj)
	}
	w.operation, w.stored = did, obj
	return nil
}
