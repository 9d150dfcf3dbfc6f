package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/armature-dev/armature/cmd/armature/internal/leader"
)

// managedElsewhere: spec.managedBy says that another controller runs it, so Armature (or Kubernetes, of a Job) doesn't.
func managedElsewhere(s subject) *Finding {
	field, by := "spec.managedBy", s.text("spec", "managedBy")
	if s.is("ReplicaJob") {
		field, by = "spec.runPolicy.managedBy", s.text("spec", "runPolicy", "managedBy")
	}
	own := map[bool]string{true: "api.practice.com/armature", false: "kubernetes.io/job-controller"}[s.isOurs()]
	if by == "" || by == own || !isBehind(s.Object) {
		return nil
	}
	return blocked("ManagedElsewhere", "%s assigns it to %s, which has not reconciled it", field, by).
		do("check that %s runs, or create the object again without managedBy", by)
}

// unobserved: no controller has reconciled the object's current spec, although the object isn't new.
func unobserved(s subject) *Finding {
	if !isBehind(s.Object) || s.Now.Sub(changed(s.Object)) < grace {
		return nil
	}
	if !s.isOurs() {
		return blocked("NoController", "its controller has not reconciled it: its status is empty").
			do("check that kube-controller-manager runs and is healthy: kubectl get pods -n kube-system")
	}
	seen := "its status is empty"
	if n := s.number("status", "observedGeneration"); n > 0 {
		seen = "its status belongs to an older spec"
	}
	found := blocked("NoManager", "no manager has reconciled it: %s", seen).
		do("check that armature manager runs and is healthy, and that its --operators include %s and its --watch-namespaces %s: %s",
			strings.ToLower(s.GetKind()), s.GetNamespace(), listManagers)
	switch gone := s.goneManagers(); {
	case len(gone) > 0:
		found.Message += "; " + leader.SinceWhen(gone, s.Now)
	case len(s.Managers) > 0 && !slices.ContainsFunc(s.Managers, s.isManaging):
		var all []string
		for _, m := range s.Managers {
			all = append(all, fmt.Sprintf("%s/%s has %s", m.Namespace, m.Lease, m.Scope))
		}
		found.Message += "; none of the existing managers works on it: " + listed(all)
	}
	return found
}

const (
	managerLabel = leader.LabelName + "=" + leader.Name
	listManagers = "kubectl get pods -A -l " + managerLabel
	startManager = "start armature manager again, or find out why it doesn't run; it continues from the observed state: " + listManagers
)

// leaderless: it is active, and the lease of its manager has expired.
func leaderless(s subject) *Finding {
	if !s.isActive() {
		return nil
	}
	gone := s.goneManagers()
	if len(gone) == 0 || s.worst(s.Object) != nil {
		return nil // the problem of a child comes first, because it doesn't depend on a manager
	}
	return blocked("NoManager", "no manager runs: %s; running pods continue, and no operator acts on them", leader.SinceWhen(gone, s.Now)).
		do("%s", startManager)
}

// isManaging reports whether a manager works on the object.
func (s subject) isManaging(m leader.Manager) bool { return m.Scope.Covers(s.GetKind(), s.Object) }

// goneManagers returns the managers that work on an object, if all of them are gone.
func (s subject) goneManagers() []leader.Manager {
	if !s.isOurs() {
		return nil
	}
	return leader.Gone(s.Managers, s.isManaging, statusWritten(s.Object), s.Now)
}

// isActive reports whether an object of Armature's has not ended.
func (o *Object) isActive() bool {
	return o.isOurs() && !o.is("JobTemplate", "FluxSetup") && !HasSucceeded(o) && !HasFailed(o) && o.text("status", "completionTime") == ""
}

// isBehind reports whether the status is of an older spec, or empty.
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
func changed(o *Object) time.Time { return written(o, "", o.GetCreationTimestamp().Time) }

// statusWritten returns when the status was written last, as far as it is recorded.
func statusWritten(o *Object) time.Time { return written(o, "status", time.Time{}) }

// written returns when a subresource, or the object itself, was written last; at if that isn't recorded.
func written(o *Object, subresource string, at time.Time) time.Time {
	list, _, _ := unstructured.NestedSlice(o.Object, "metadata", "managedFields")
	for _, item := range list {
		entry, ok := item.(map[string]any)
		if !ok {
			continue
		}
		of, _, _ := unstructured.NestedString(entry, "subresource")
		text, _, _ := unstructured.NestedString(entry, "time")
		if t, err := time.Parse(time.RFC3339, text); err == nil && of == subresource && t.After(at) {
			at = t
		}
	}
	return at
}
