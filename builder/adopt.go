package builder

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// AdoptPolicy says which objects that aren't the owner's become its children, if they have the name of one.
type AdoptPolicy string

const (
	// Never takes none: an object in the way is left alone, with ErrNotOwned. It is the default.
	Never AdoptPolicy = "Never"
	// IfOrphan takes an object that has no controller. One that is being deleted is waited for.
	IfOrphan AdoptPolicy = "IfOrphan"
)

// kubectlApply is the field manager of kubectl apply without --server-side.
const kubectlApply = "kubectl-client-side-apply"

// Adopt lets a child take over an existing object of its name: it gets the owner as its controller, and is applied as
// wanted, in one write that fails if anything else has written since it was seen. Its labels don't matter. An object
// with another controller is never taken: that is [ErrNotOwned], as without this option, until it is free.
//
// Who wrote the object before would keep owning its fields, so that what isn't wanted could never be removed. So the
// fields set by kubectl apply, and by the field managers named here (those of an operator that this one replaces, be it
// by updates or by server-side apply), become those of the builder; those that aren't wanted go, and defaults come back.
// Where a value is to stay, want it, or [Ignore] it. Fields of all other managers are left alone.
//
// An object that is the owner's already gives up the fields of the managers named here in the next pass, whether anything
// else is to be changed or not: Adopt(Never, "old-operator") is for children that an operator of another name has made for
// the same owners. Without any option that is done for what this very program has written by updates, as
// controllerutil.CreateOrUpdate does, before it wrote the object by the builder; but finalizers, and references to owners
// other than the controller, stay, since another program may have the same default name, such as "manager".
//
// It follows https://kubernetes.io/docs/reference/using-api/server-side-apply/#upgrading-from-client-side-apply-to-server-side-apply.
func Adopt(policy AdoptPolicy, formerManagers ...string) ChildOption {
	return adoption{policy: policy, former: formerManagers}
}

// AdoptLabelled is Adopt(IfOrphan) for objects that have all of these labels, if the builder itself has set them: those
// that a predecessor of the owner left behind, and nothing that has its name and was labelled by someone else. Who set a
// label, the object's managed fields say: it must be the engine's field manager, or one that is named here. Others are
// left alone, with [ErrNotOwned]. The field managers named are also those of Adopt: what they have set and isn't desired
// goes. Not to be used beside Adopt.
func AdoptLabelled(labels map[string]string, formerManagers ...string) ChildOption {
	return adoption{policy: IfOrphan, former: formerManagers, labels: labels}
}

type adoption struct {
	policy AdoptPolicy
	former []string
	labels map[string]string
}

func (a adoption) applyToChild(c *Child) {
	how := c.change()
	how.Adopt, how.Former, how.AdoptLabels = a.policy, append([]string{kubectlApply}, a.former...), a.labels
}

// meetForeign says what to do about an object of a wanted name that isn't the owner's.
func (p *pass) meetForeign(w *write) (*write, error) {
	d := w.desired
	how := d.child.how
	if how == nil || how.Adopt != IfOrphan || metav1.GetControllerOfNoCopy(w.found) != nil || !p.isOfPredecessor(w.found, how) {
		return nil, notOwned("apply", d.key, w.found)
	}
	if w.found.GetDeletionTimestamp() != nil {
		w.verdict = verdictWait
		return w, nil
	}
	w.verdict, w.adopts = verdictApply, true
	if !d.child.once {
		if err := d.stamp(p); err != nil {
			return w, err
		}
	}
	p.holdContested(w)
	return w, nil
}

// isOfPredecessor reports whether an object has the labels that an orphan must have to be adopted, as the builder set them.
func (p *pass) isOfPredecessor(obj client.Object, how *keeping) bool {
	return len(how.AdoptLabels) == 0 || hasLabels(obj, how.AdoptLabels) && p.engine.hasMarked(obj, how.Former, labelFields(how.AdoptLabels))
}

// hasLabels reports whether an object has all of some labels.
func hasLabels(obj client.Object, labels map[string]string) bool {
	for name, value := range labels {
		if has, ok := obj.GetLabels()[name]; !ok || has != value {
			return false
		}
	}
	return true
}

// onlyAsSeen makes an apply fail if the object isn't any more what was found.
func onlyAsSeen(fields map[string]any, found client.Object) {
	fields["metadata"].(map[string]any)["resourceVersion"] = found.GetResourceVersion()
}
