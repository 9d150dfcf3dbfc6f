package admission

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/fluxjob/internal/needs"
)

// LabelQueue is the label of a FluxJob's MiniCluster with the name of the FluxSetup that gave it its share.
const LabelQueue = "api.practice.com/flux-queue"

// queuesOfJob returns the queues that a job was and is in, if something changed that concerns them.
func queuesOfJob(old, job *v1alpha1.FluxJob) (all bool, names []types.NamespacedName) {
	if old != nil && job != nil && old.UID == job.UID && sameForQueue(old, job) {
		return false, nil
	}
	return false, owners(append(queuesOf(old), queuesOf(job)...)...)
}

// sameForQueue reports whether a change of a job means nothing to its queue: its position, its conditions.
func sameForQueue(a, b *v1alpha1.FluxJob) bool {
	return a.Generation == b.Generation && needs.Kueue(a) == needs.Kueue(b) && isPaused(a) == isPaused(b) &&
		(a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil) &&
		a.Status.Attempts == b.Status.Attempts && (a.Status.CompletionTime == nil) == (b.Status.CompletionTime == nil) &&
		a.Status.RequeueTime.Equal(b.Status.RequeueTime) && sameAdmission(a.Status.Admission, b.Status.Admission)
}

func sameAdmission(a, b *v1alpha1.FluxAdmission) bool {
	if a == nil || b == nil {
		return a == b
	}
	return (a.Evicted == nil) == (b.Evicted == nil) && (a.ReadyTime == nil) == (b.ReadyTime == nil)
}

func queuesOf(job *v1alpha1.FluxJob) []string {
	if job == nil {
		return nil
	}
	queues := []string{needs.Queue(job)}
	if job.Status.Admission != nil {
		queues = append(queues, job.Status.Admission.Queue)
	}
	return queues
}

// queueOfCluster returns the queue of a MiniCluster that is gone, or begins to terminate.
func queueOfCluster(before, after *v1alpha1.MiniCluster) (all bool, names []types.NamespacedName) {
	if before == nil || after != nil && (before.DeletionTimestamp != nil || after.DeletionTimestamp == nil) {
		return false, nil
	}
	return false, owners(before.GetLabels()[LabelQueue])
}

// queuesOfSetup returns all others if the setup is in a cohort: what it gives, and who waits for it, concerns them. The setup itself
// is enqueued by what another manager has written.
func (m Manager) queuesOfSetup(old, setup *v1alpha1.FluxSetup) (all bool, names []types.NamespacedName) {
	switch {
	case (old != nil && old.Spec.Cohort != "") || (setup != nil && setup.Spec.Cohort != ""):
		return true, nil
	case old == nil || setup == nil || m.sameForManager(old, setup):
		return false, nil
	default:
		return false, owners(setup.Name)
	}
}

// sameForManager reports whether a change of a setup's status means nothing to this manager: its own writes, but for the one
// that puts its name there, and those of another manager as long as that has jobs.
func (m Manager) sameForManager(old, setup *v1alpha1.FluxSetup) bool {
	switch {
	case !equality.Semantic.DeepEqual(old.Status.Manager, setup.Status.Manager):
		return false
	case !m.Is(setup.Status.Manager):
		return isInUse(setup) || !isInUse(old)
	case len(m.Namespaces) == 0:
		return true
	default:
		return slices.EqualFunc(m.unseen(old), m.unseen(setup), func(a, b *v1alpha1.FluxReservation) bool {
			return a.UID == b.UID && a.Attempt == b.Attempt
		})
	}
}

// unseen are the reservations of jobs that only other managers see.
func (m Manager) unseen(setup *v1alpha1.FluxSetup) []*v1alpha1.FluxReservation {
	var all []*v1alpha1.FluxReservation
	for i := range setup.Status.Reservations {
		if r := &setup.Status.Reservations[i]; !m.Sees(r.Namespace) {
			all = append(all, r)
		}
	}
	return all
}

// queuesOfNamespace returns all if selectors may see the namespace otherwise, or if it is gone, and all jobs in it.
func queuesOfNamespace(old, ns *corev1.Namespace) (all bool, _ []types.NamespacedName) {
	return ns == nil || old == nil || !maps.Equal(old.Labels, ns.Labels), nil
}

// owners returns FluxSetups by their names.
func owners(names ...string) []types.NamespacedName {
	slices.Sort(names)
	var all []types.NamespacedName
	for _, name := range slices.Compact(names) {
		if name != "" {
			all = append(all, types.NamespacedName{Name: name})
		}
	}
	return all
}
