package diagnose

import "strings"

// deleting: the object is being deleted, so nothing of it is made any more.
func deleting(s scene) *Finding {
	if s.GetDeletionTimestamp() == nil {
		return nil
	}
	left := s.GetFinalizers()
	if s.parent != nil && (len(left) == 0 || s.pod != nil) {
		return nil // its time to stop runs; what comes in its place is its parent's business
	}
	if len(left) == 0 {
		return blocked("Deleting", "it is being deleted").do("wait until it is gone, and create it anew to run it again")
	}
	return blocked("Deleting", "it is being deleted, and stays until its finalizers are taken off: %s", strings.Join(left, ", ")).
		do("see that who sets these finalizers runs; the last means is to take them off by hand, which may leave things behind")
}
