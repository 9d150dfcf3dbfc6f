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
func managedElsewhere(s scene) *Finding {
	field, by := "spec.managedBy", s.text("spec", "managedBy")
	if s.is("ReplicaJob") {
		field, by = "spec.runPolicy.managedBy", s.text("spec", "runPolicy", "managedBy")
	}
	own := map[bool]string{true: "api.practice.com/armature", false: "kubernetes.io/job-controller"}[s.isOurs()]
	if by == "" || by == own || !isBehind(s.Object) {
		return nil
	}
	return blocked("ManagedElsewhere", "%s leaves it to %s, which has not reconciled it", field, by).
		do("see that %s runs; to have it run here, create it again without managedBy", by)
}

// unobserved: no one has looked at the object as it is, although it isn't new.
func unobserved(s scene) *Finding {
	if !isBehind(s.Object) || s.Now.Sub(changed(s.Object)) < grace {
		return nil
	}
	if !s.isOurs() {
		return blocked("NoController", "its controller has not reconciled it: its status is empty").
			do("see that kube-controller-manager runs, and is well: kubectl get pods -n kube-system")
	}
	seen := "its status is empty"
	if n := s.number("status", "observedGeneration"); n > 0 {
		seen = "its status is about an older spec"
	}
	found := blocked("NoManager", "no manager has reconciled it: %s", seen).
		do("see that armature manager runs, is well, has %s among its --operators and namespace %s among its --watch-namespaces: %s",
			strings.ToLower(s.GetKind()), s.GetNamespace(), listManagers)
	switch gone := s.goneManagers(); {
	case len(gone) > 0:
		found.Message += "; " + s.sinceWhen(gone)
	case len(s.Managers) > 0 && !slices.ContainsFunc(s.Managers, s.isManaging):
		var all []string
		for _, m := range s.Managers {
			all = append(all, fmt.Sprintf("%s/%s has %s", m.Namespace, m.Lease, m.Scope))
		}
		found.Message += "; none of the managers that there are works on it: " + listed(all)
	}
	return found
}

const (
	listManagers = "kubectl get pods -A -l app.kubernetes.io/name=armature"
	startManager = "start armature manager again, or see why it doesn't run; it goes on from what it finds: " + listManagers
)

// leaderless: it is under way, and the lease of the manager that works on it isn't renewed any more.
func leaderless(s scene) *Finding {
	if !s.isUnderWay() {
		return nil
	}
	gone := s.goneManagers()
	if len(gone) == 0 || s.worst(s.Object) != nil {
		return nil // what is wrong below is wrong with a manager, too
	}
	return blocked("NoManager", "no manager runs: %s; what runs goes on, and nothing follows it", s.sinceWhen(gone)).do("%s", startManager)
}

// isManaging reports whether a manager works on the object.
func (s scene) isManaging(m leader.Manager) bool { return m.Scope.Covers(s.GetKind(), s.Object) }

// goneManagers returns the managers that work on an object, if all of them are gone. A status that was written later than they
// could have is that of a manager without a lease.
func (s scene) goneManagers() []leader.Manager {
	if !s.isOurs() {
		return nil
	}
	var gone []leader.Manager
	for _, m := range s.Managers {
		switch {
		case !s.isManaging(m):
		case !s.Now.After(m.Expires()), statusWritten(s.Object).After(m.Expires()):
			return nil
		default:
			gone = append(gone, m)
		}
	}
	return gone
}

// sinceWhen says since when managers are gone.
func (s scene) sinceWhen(gone []leader.Manager) string {
	var all []string
	for _, m := range gone {
		how := "was last renewed " + short(s.Now.Sub(m.Renewed)) + " ago by " + m.Holder
		if m.Holder == "" {
			how = "was released " + short(s.Now.Sub(m.Renewed)) + " ago"
		}
		all = append(all, fmt.Sprintf("the lease %s/%s %s", m.Namespace, m.Lease, how))
	}
	return strings.Join(all, ", ")
}

func short(d time.Duration) string { return d.Truncate(time.Second).String() }

// isUnderWay reports whether an object of Armature's has yet to come to its end.
func (o *Object) isUnderWay() bool {
	return o.isOurs() && !o.is("JobTemplate", "FluxSetup") && !HasSucceeded(o) && !HasEndedBadly(o) && o.text("status", "completionTime") == ""
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
