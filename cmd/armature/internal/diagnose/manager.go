package diagnose

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// managedElsewhere: spec.managedBy says that another controller runs it, so Armature (or Kubernetes, of a Job) doesn't.
func managedElsewhere(s scene) *Finding {
	by := s.text("spec", "managedBy")
	own := map[bool]string{true: "api.practice.com/armature", false: "kubernetes.io/job-controller"}[s.isOurs()]
	if by == "" || by == own || !isBehind(s.Object) {
		return nil
	}
	return blocked("ManagedElsewhere", "spec.managedBy leaves it to %s, which has not looked at it", by).
		do("see that %s runs; to have it run here, create it anew without managedBy", by)
}

// unobserved: no one has looked at the object as it is, although it isn't new.
func unobserved(s scene) *Finding {
	if !isBehind(s.Object) || s.Now.Sub(changed(s.Object)) < grace {
		return nil
	}
	operator := strings.ToLower(s.GetKind())
	if !s.isOurs() {
		return blocked("NoController", "its controller has not looked at it: its status is empty").
			do("see that kube-controller-manager runs, and is well: kubectl get pods -n kube-system")
	}
	seen := "its status is empty"
	if n := s.number("status", "observedGeneration"); n > 0 {
		seen = "its status is about an older spec"
	}
	return blocked("NoManager", "no manager has looked at it: %s", seen).
		do("see that armature manager runs, is well, has %s among its --operators and namespace %s among its --watch-namespaces: "+
			"kubectl get pods -A -l app.kubernetes.io/name=armature", operator, s.GetNamespace())
}

// isBehind reports whether the status is about an older spec, or about none.
func isBehind(o *Object) bool {
	switch {
	case o.isOurs() && !o.is("JobTemplate"), o.is("Deployment", "StatefulSet", "DaemonSet"):
		return o.number("status", "observedGeneration") < o.GetGeneration()
	case o.job != nil:
		return o.job.Status.StartTime == nil && len(o.job.Status.Conditions) == 0
	default:
		return false
	}
}

// changed returns when the spec was written last, as far as it is recorded.
func changed(o *Object) time.Time {
	at := o.GetCreationTimestamp().Time
	list, _, _ := unstructured.NestedSlice(o.Object, "metadata", "managedFields")
	for _, item := range list {
		entry, ok := item.(map[string]any)
		if !ok {
			continue
		}
		subresource, _, _ := unstructured.NestedString(entry, "subresource")
		text, _, _ := unstructured.NestedString(entry, "time")
		if t, err := time.Parse(time.RFC3339, text); err == nil && subresource == "" && t.After(at) {
			at = t
		}
	}
	return at
}
