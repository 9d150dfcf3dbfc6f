package builder

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/builder/internal/marks"
)

// AdoptOptions are options of Adopt. The zero value adopts an object that has no controller.
type AdoptOptions struct {
	// Labels are those that an object must have to be adopted, set by the builder itself or by one of FormerManagers: an object
	// that a predecessor of the owner left behind, and nothing that someone else labelled alike. kubectl apply doesn't count. Default:
	// labels don't matter.
	Labels map[string]string
	// FormerManagers are the field managers of an operator that this one replaces, by updates or by server-side apply. Their fields
	// become the builder's.
	FormerManagers []string
	// OwnedOnly adopts nothing: the options apply to an object that the owner already controls. An operator of another name may have
	// made it for the same owner.
	OwnedOnly bool
}

// Adopt lets a child take over an existing object of its name: the owner becomes its controller, and the desired state is applied, in one
// write that fails if anything else has written since the object was observed. The builder waits for an object that is being deleted. An
// object with another controller, or without the labels asked for, is never taken: that is [ErrNotOwned], as without this option.
//
// The manager that wrote the object before would keep owning its fields, so that what isn't desired could never be removed. So the fields
// set by kubectl apply, and by the former managers, become those of the builder; those that aren't desired go, and defaults come
// back. To keep a value, desire it, or [Ignore] its field. Fields of all other managers are left alone.
//
// An object that the owner controls already gives up the fields of the former managers in the next pass, whether anything else changes or
// not. Without any option the builder does that for what this very program has written by updates, as controllerutil.CreateOrUpdate does,
// before it wrote the object by the builder; but finalizers, and references to owners other than the controller, stay, since another
// program may have the same default name, such as "manager".
//
// See https://kubernetes.io/docs/reference/using-api/server-side-apply/#upgrading-from-client-side-apply-to-server-side-apply.
func Adopt(options AdoptOptions) ChildOption { return options }

func (o AdoptOptions) applyToChild(c *Child) {
	how := c.change()
	how.AdoptOrphan, how.AdoptLabels = !o.OwnedOnly, o.Labels
	how.Former = append([]string{fieldmanager.KubectlApply}, o.FormerManagers...)
}

// decideNotOwned decides what to do about an object of a desired name that isn't the owner's.
func (p *pass) decideNotOwned(w *write) (*write, error) {
	d := w.desired
	how := d.child.how
	if how == nil || !how.AdoptOrphan || metav1.GetControllerOfNoCopy(w.observed) != nil || !p.isOfPredecessor(w.observed, how) {
		return nil, notOwned("apply", d.key, w.observed)
	}
	if w.observed.GetDeletionTimestamp() != nil {
		w.action = actionWait
		return w, nil
	}
	w.action, w.adopts = actionApply, true
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
	return len(how.AdoptLabels) == 0 || hasLabels(obj, how.AdoptLabels) &&
		marks.HasSet(obj, p.engine.name, how.Former, marks.LabelFields(how.AdoptLabels))
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
