package diagnose

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deleting: the object is being deleted, so nothing of it is made any more.
func deleting(s scene) *Finding {
	if s.GetDeletionTimestamp() == nil {
		return nil
	}
	if s.parent != nil && (len(guards(s.Object)) == 0 || s.pod != nil) {
		return nil // its time to stop runs; what comes in its place is its parent's business
	}
	switch found := guarded(s); {
	case found != nil:
		return found
	case len(s.GetFinalizers()) == 0:
		return blocked("Deleting", "it is being deleted").do("wait until it is gone, and create it again to run it again")
	}
	// Kubernetes deletes what it owns first.
	for _, child := range s.Owned {
		if found := s.stays(child); found != nil {
			return found
		}
	}
	message := "it is being deleted, and goes when what it owns is gone"
	if names := namesOf(s.Owned); len(names) > 0 {
		message += ": " + listed(names)
	}
	return blocked("Deleting", "%s", message).do("wait until it is gone, and create it again to run it again")
}

// stays says why something that goes with its owner doesn't: someone's finalizer, or a node that doesn't answer.
func (s scene) stays(o *Object) *Finding {
	child := scene{Facts: s.Facts, Object: o, parent: s.Object}
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

// guarded: someone has to take a finalizer off first.
func guarded(s scene) *Finding {
	left := strings.Join(guards(s.Object), ", ")
	switch {
	case left == "":
		return nil
	case s.is("PersistentVolumeClaim") && left == "kubernetes.io/pvc-protection":
		return blocked("Deleting", "it is being deleted, and goes when no pod uses it any more").
			do("see which pods use it: kubectl describe pvc %s%s", s.GetName(), s.flagN())
	default:
		return blocked("Deleting", "it is being deleted, and stays until who set these finalizers takes them off: %s", left).
			do("see that who set %s runs: what it is to clean up would be left behind otherwise", left)
	}
}

// guards returns the finalizers of those who have something to clean up. Those of Kubernetes' own deletion are left out: it
// takes them off once what the object owns is gone.
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
