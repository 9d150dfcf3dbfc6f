package apply

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/marks"
)

// decideNotOwned decides the action for an object of a desired name that the owner doesn't own.
func (c *Cluster) decideNotOwned(w *Write) (*Write, error) {
	d := w.Desired
	options := d.Child.Options
	if options == nil || !options.AdoptOrphan || metav1.GetControllerOfNoCopy(w.Observed) != nil || !c.isOfPredecessor(w.Observed, options) {
		return nil, c.refuse(d, w.Observed)
	}
	if w.Observed.GetDeletionTimestamp() != nil {
		w.Action = Wait
		return w, nil
	}
	w.Action, w.adopts = Apply, true
	if !d.Child.CreateOnly {
		if err := d.Stamp(c); err != nil {
			return w, err
		}
	}
	c.holdContested(w)
	return w, nil
}

// isOfPredecessor reports whether an object has the labels that Adopt requires, as the builder set them.
func (c *Cluster) isOfPredecessor(obj client.Object, options *Options) bool {
	return len(options.AdoptLabels) == 0 ||
		labels.SelectorFromValidatedSet(options.AdoptLabels).Matches(labels.Set(obj.GetLabels())) &&
			marks.HasSet(obj, c.Name, options.FormerManagers, marks.LabelFields(options.AdoptLabels))
}
