package diagnose

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deleting: the object is being deleted, so its operator creates no more children.
func deleting(s subject) *Finding {
	if s.GetDeletionTimestamp() == nil {
		return nil
	}
	if s.parent != nil && (len(guards(s.Object)) == 0 || s.pod != nil) {
		return nil // it terminates within its grace period, and its parent replaces it
	}
	switch found := guarded(s); {
	case found != nil:
		return found
	case len(s.GetFinalizers()) == 0:
		return blocked("Deleting", "it is being deleted").do("wait until it is deleted; to run it again, create it again")
	}
	// Kubernetes deletes what it owns first.
	for _, child := range s.Owned {
		if found := s.stays(child); found != nil {
			return found
		}
	}
	message := "it is being deleted, and is removed after its children"
	if names := namesOf(s.Owned); len(names) > 0 {
		message += ": " + listed(names)
	}
	return blocked("Deleting", "%s", message).do("wait until it is deleted; to run it again, create it again")
}

// stays returns the finding about a child that blocks the deletion of its owner: a finalizer, or a node that doesn't respond.
func (s subject) stays(o *Object) *Finding {
	child := subject{Facts: s.Facts, Object: o, parent: s.Object}
	if o.GetDeletionTimestamp() != nil {
		for _, r := range []rule{guarded, nodeLost} {
			if found := r(child); found != nil {
				found.Object = o.Ref()
				return found
			}
		}
	}
	for _, below := range o.Owned {
		if found := child.stays(below); found != nil {
			return found
		}
	}
	return nil
}

// guarded: a controller has to remove its finalizer first.
func guarded(s subject) *Finding {
	left := strings.Join(guards(s.Object), ", ")
	switch {
	case left == "":
		return nil
	case s.is("PersistentVolumeClaim") && left == "kubernetes.io/pvc-protection":
		return blocked("Deleting", "it is being deleted, and is removed once no pod uses it").
			do("list the pods that use it: kubectl describe pvc %s%s", s.GetName(), s.flagN())
	default:
		return blocked("Deleting", "it is being deleted, and remains until the controllers of these finalizers remove them: %s", left).
			do("check that the controller of finalizer %s runs; don't remove the finalizer, or its clean-up is skipped", left)
	}
}

// guards returns the finalizers of controllers that clean up. It omits Kubernetes' own deletion finalizers, which Kubernetes removes
// once the children are deleted.
func guards(o *Object) []string {
	return slices.DeleteFunc(slices.Clone(o.GetFinalizers()), func(f string) bool {
		return f == metav1.FinalizerDeleteDependents || f == metav1.FinalizerOrphanDependents || f == "batch.kubernetes.io/job-tracking"
	})
}

func namesOf(all []*Object) []string {
	var names []string
	for _, o := range all {
		names = append(names, o.Ref().String())
	}
	return names
}
