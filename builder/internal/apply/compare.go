package apply

import (
	"fmt"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/builder/internal/marks"
	"github.com/armature-dev/armature/builder/internal/memory"
	"github.com/armature-dev/armature/builder/internal/paths"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/builder/internal/subset"
	"github.com/armature-dev/armature/internal/wellknown"
)

// Compare decides which action an object needs, given the observed object of its name. All decisions about a child are made here; only
// the API server's answer to a write may revise them.
func (c *Cluster) Compare(d *Desired, observed client.Object) (*Write, error) {
	w := d.newWrite(observed)
	if observed == nil {
		err := d.Stamp(c)
		if err == nil {
			c.holdCreation(w)
		}
		return w, err
	}
	switch c.ownershipOf(d, observed) {
	case notOwned:
		if d.Child.CrossNamespace {
			return nil, c.refuse(d, observed)
		}
		return c.decideNotOwned(w)
	case terminating:
		w.Action = Wait
		return w, nil
	case owned:
		if d.Child.CreateOnly {
			return c.compareCreateOnly(w), nil
		}
	}
	upToDate, err := c.isUpToDate(d, observed)
	switch {
	case err != nil:
		return w, err
	case upToDate:
		w.Action = None
	default:
		w.Action = Apply
		c.holdContested(w)
	}
	return w, nil
}

// newWrite returns the write of d. Its action is Create until another one is decided.
func (d *Desired) newWrite(observed client.Object) *Write {
	w := d.write
	if d.write = nil; w == nil {
		w = &Write{}
	}
	*w = Write{Desired: d, Observed: observed, Action: Create, initial: observed}
	return w
}

// ownership is the relation between the owner and an object that exists.
type ownership int

const (
	// owned objects are the owner's.
	owned ownership = iota
	// notOwned objects have another owner, or none.
	notOwned
	// terminating objects are the owner's or a predecessor's, and about to disappear: wait for them.
	terminating
)

// ownershipOf returns the relation between the owner and an object that has the name of d.
func (c *Cluster) ownershipOf(d *Desired, observed client.Object) ownership {
	isOwners := false
	switch {
	case d.Child.Retained() && metav1.GetControllerOfNoCopy(observed) == nil:
		isOwners = c.Marks.IsRetained(observed, d.Child.FormerManagers())
	case d.Child.CrossNamespace:
		isOwners = c.Marks.IsCrossNamespace(observed, d.Child.FormerManagers())
	case inventory.IsOfPredecessor(observed, c.Owner, c.OwnerKind):
		return terminating
	default:
		isOwners = metav1.IsControlledBy(observed, c.Owner)
	}
	switch {
	case !isOwners:
		return notOwned
	case observed.GetDeletionTimestamp() != nil:
		return terminating
	default:
		return owned
	}
}

// refuse returns the error about an object of d's name that the owner doesn't own.
func (c *Cluster) refuse(d *Desired, observed client.Object) error {
	canHaveMarks := (d.Child.Retained() || d.Child.CrossNamespace) && metav1.GetControllerOfNoCopy(observed) == nil
	if canHaveMarks && !d.Child.CreateOnly { // with CreateOnly, no manager can be a former one
		if manager := c.Marks.MarkedBefore(observed, d.Child.Retained()); manager != "" {
			return failure.MarkedBefore("apply", d.Key, observed, manager, c.Name, "")
		}
	}
	if !d.Child.CrossNamespace || !canHaveMarks {
		return failure.NotOwned("apply", d.Key, observed)
	}
	err := fmt.Errorf("%w: its label %s is %q, and set by %s%s, or give the owner another name",
		failure.ErrNotOwned, wellknown.LabelOwnerUID, observed.GetLabels()[wellknown.LabelOwnerUID],
		marks.LabelSetter(observed, wellknown.LabelOwnerUID), wellknown.AdviceNotOwned)
	return &failure.Error{Key: d.Key, Operation: "apply", Err: err, Object: observed}
}

// isUpToDate reports whether an object needs no write: an earlier pass has found this version of it up to date, or its digest is that of
// the desired object and it still contains all desired fields.
func (c *Cluster) isUpToDate(d *Desired, observed client.Object) (bool, error) {
	if d.keepsImmutable() {
		if left, err := c.isLeftImmutable(d, observed); left || err != nil {
			return left, err
		}
	}
	if d.Hashed && c.Memory.UpToDate.Has(observed.GetUID(), memory.Version{ResourceVersion: observed.GetResourceVersion(), Hash: d.Hash}) {
		return true, nil
	}
	if err := d.Stamp(c); err != nil {
		return false, err
	}
	if !d.isDigestOf(observed) || c.hasFormer(observed, d) {
		return false, nil
	}
	if !c.contains(d, observed) && !c.isSettled(observed, d) {
		return false, nil
	}
	c.remember(observed, d)
	return true, nil
}

// isDigestOf reports whether an object has the digest of the desired one.
func (d *Desired) isDigestOf(obj client.Object) bool {
	digest, _ := recordOf(obj)
	return digest == d.Digest
}

// DigestOf returns the digest of the last apply of an object, empty if it has none.
func DigestOf(obj client.Object) string {
	if obj == nil {
		return ""
	}
	if digest, _ := recordOf(obj); digest != notApplied {
		return digest
	}
	return ""
}

// isDesiredChanged reports whether the desired object differs from the one that was applied last. If it doesn't, a difference is
// drift.
func (w *Write) isDesiredChanged() bool { return !w.Desired.isDigestOf(w.Observed) }

// hasFormer reports whether an object has fields of a manager that Adopt names.
func (c *Cluster) hasFormer(observed client.Object, d *Desired) bool {
	return d.Child.Options != nil && c.fieldManager(d).HasFormer(observed.GetManagedFields())
}

// contains reports whether an observed object contains all desired fields.
func (c *Cluster) contains(d *Desired, observed client.Object) bool {
	u, ok := observed.(runtime.Unstructured)
	if !ok {
		isCustom := !payload.IsKubernetes(reflect.TypeOf(observed).Elem())
		return subset.Typed(d.compared, observed) && !(isCustom && c.hasMoreInOne(d, observed))
	}
	content := d.withoutIgnored(u.UnstructuredContent())
	if like := c.Kinds.Builtin(d.Kind.GVK); like != nil {
		return subset.Guided(d.fields, content, like)
	}
	return subset.Custom(d.fields, content) && !c.hasMoreInOne(d, observed)
}

// hasLost reports whether an apply may have lost desired fields. Of a custom resource without a Go type, these are only empty structs,
// maps and lists: which other fields the API server omits, only it knows.
func (c *Cluster) hasLost(d *Desired, stored client.Object) bool {
	if c.contains(d, stored) {
		return false
	}
	u, ok := stored.(runtime.Unstructured)
	return !ok || c.Kinds.Builtin(d.Kind.GVK) != nil || subset.Untyped(d.fields, d.withoutIgnored(u.UnstructuredContent()))
}

// hasMoreInOne reports whether others have added keys to an atomic map of a custom resource. Only the managed fields show that the API
// server treats a map as atomic.
func (c *Cluster) hasMoreInOne(d *Desired, observed client.Object) bool {
	whole := c.fieldManager(d).SetWhole(observed.GetManagedFields(), d.fields)
	if len(whole) == 0 {
		return false
	}
	live, err := payload.Stored(observed)
	if err != nil {
		return false
	}
	live = d.withoutIgnored(live)
	return slices.ContainsFunc(whole, func(path fieldpath.Path) bool {
		desired, _ := paths.At(d.fields, path)
		value, _ := paths.At(live, path)
		return !subset.Untyped(value, desired)
	})
}

// remember records that a child is up to date. The API server has confirmed that, by its answer to a write, or a comparison has.
func (c *Cluster) remember(child client.Object, d *Desired) {
	if d.Hashed && !c.DryRun {
		c.Memory.UpToDate.Add(child.GetUID(), memory.Version{ResourceVersion: child.GetResourceVersion(), Hash: d.Hash})
	}
}

// rememberImmutable records that an object has a changed immutable field and stays as it is, so that the builder makes no further
// request.
func (c *Cluster) rememberImmutable(observed client.Object, d *Desired) {
	if c.DryRun { // the next real pass must emit the event
		return
	}
	c.Memory.Immutable.Add(observed.GetUID(), memory.Immutable{Hash: d.Hash, Digest: d.Digest})
}

// isLeftImmutable reports whether an object is recorded as one that stays as it is for this desired object. It forgets a record for
// another desired object, which may change the object so that this one becomes possible.
func (c *Cluster) isLeftImmutable(d *Desired, observed client.Object) (bool, error) {
	as, ok := c.Memory.Immutable.Get(observed.GetUID())
	if !ok {
		return false, nil
	}
	if d.Hashed && as.Hash == d.Hash {
		return true, nil
	}
	if err := d.Stamp(c); err != nil || as.Digest == d.Digest {
		return err == nil, err
	}
	if !c.DryRun {
		c.Memory.Immutable.Remove(observed.GetUID())
	}
	return false, nil
}

// settle records the object that the API server stored for a child, if it differs from the desired one.
func (c *Cluster) settle(stored client.Object, d *Desired) {
	switch {
	case c.DryRun || stored.GetUID() == "":
	case c.contains(d, stored):
		c.Memory.Settled.Forget(stored.GetUID())
	default:
		c.Memory.Settled.Note(stored, d.Kind.GVK, d.Digest, c.Now())
	}
}

// isSettled reports whether the API server stores the desired object in this form, which differs from it.
func (c *Cluster) isSettled(observed client.Object, d *Desired) bool {
	return c.Memory.Settled.Has(observed, d.Kind.GVK, d.Digest, c.Now())
}
