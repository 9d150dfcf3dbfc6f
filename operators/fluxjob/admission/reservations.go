package admission

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
)

// known is what tells which reservations still hold.
type known struct {
	cohort *cohort
	jobs   map[types.UID]*v1alpha1.FluxJob // those that hold or may hold something
	spaces map[string]map[string]string    // the labels of the namespaces that there are
	seen   builder.View
	left   map[types.UID]bool // FluxJobs that are gone and have MiniClusters; made when it is asked for
}

// newKnown finds the jobs that the books are about.
func (c *cohort) newKnown(jobs []*v1alpha1.FluxJob, spaces map[string]map[string]string, seen builder.View) *known {
	k := &known{cohort: c, jobs: map[types.UID]*v1alpha1.FluxJob{}, spaces: spaces, seen: seen}
	for _, s := range c.setups {
		for i := range s.Status.Reservations {
			k.jobs[s.Status.Reservations[i].UID] = nil
		}
	}
	for _, job := range jobs {
		if _, reserved := k.jobs[job.UID]; reserved || job.Status.Admission != nil {
			k.jobs[job.UID] = job
		}
	}
	return k
}

// settle returns a setup's book as it is now: without what was given back, and with what its jobs say that they hold. What
// another manager has to say stays as it is.
func (k *known) settle(setup *v1alpha1.FluxSetup, jobs []*v1alpha1.FluxJob) []v1alpha1.FluxReservation {
	var book []v1alpha1.FluxReservation
	entered := map[types.UID]bool{}
	for i := range setup.Status.Reservations {
		r := &setup.Status.Reservations[i]
		if !entered[r.UID] && k.holds(r, setup.Name) {
			book = append(book, *r)
			book[len(book)-1].Run = 0 // the former name of Attempt
			entered[r.UID] = true
		}
	}
	for _, job := range jobs {
		if a := job.Status.Admission; a != nil && a.Queue == setup.Name && !entered[job.UID] && k.cohort.judges(job.Namespace) {
			book = append(book, v1alpha1.FluxReservation{
				Namespace: job.Namespace, Name: job.Name, UID: job.UID, Attempt: job.Status.Attempts,
				Time: a.Time, Generation: a.Generation, Size: a.Size, Pods: a.Pods, Resources: a.Resources, Evicted: a.Evicted,
			})
		}
	}
	return book
}

// holds reports whether a reservation still holds. What ends it is never undone: a job doesn't come back under the same
// UID, nor to a run that is over.
func (k *known) holds(r *v1alpha1.FluxReservation, setup string) bool {
	job := k.jobs[r.UID]
	switch {
	case !k.cohort.judges(r.Namespace):
		return !k.isWiped(r)
	case job == nil:
		return k.leavesACluster(r.UID)
	case job.Status.Attempts < r.Attempt:
		return true // it has yet to accept it
	case job.Status.Attempts > r.Attempt:
		return false
	default:
		return job.Status.Admission != nil && job.Status.Admission.Queue == setup
	}
}

// isWiped reports whether a job that this manager doesn't see is gone with its namespace. The view of the namespaces may lag
// behind that of the setups, by less than a reservation is old.
func (k *known) isWiped(r *v1alpha1.FluxReservation) bool {
	_, exists := k.spaces[r.Namespace]
	return k.cohort.mine && !exists && k.seen.Now.Sub(r.Time.Time) > lingering
}

// leavesACluster reports whether a FluxJob that is gone has left a MiniCluster that isn't.
func (k *known) leavesACluster(uid types.UID) bool {
	if k.left == nil {
		k.left = map[types.UID]bool{}
		for _, cluster := range builder.Watched[*v1alpha1.MiniCluster](k.seen) {
			if ref := metav1.GetControllerOfNoCopy(cluster); ref != nil && ref.Kind == "FluxJob" {
				k.left[ref.UID] = true
			}
		}
	}
	return k.left[uid]
}

// isLeaving reports whether a reservation's holder is on its way out: it was told to go, is being deleted, or has ended.
func (k *known) isLeaving(r *v1alpha1.FluxReservation) bool {
	job := k.jobs[r.UID]
	if job == nil || !k.cohort.judges(r.Namespace) {
		return r.Evicted != nil || k.cohort.judges(r.Namespace)
	}
	return r.Evicted != nil || job.DeletionTimestamp != nil || job.Status.CompletionTime != nil || job.Spec.Suspend ||
		(job.Status.Admission != nil && job.Status.Admission.Evicted != nil)
}

// keepsPlace reports whether the holder of a reservation was evicted and will line up where it was, once it has left. One
// whose MiniCluster was refused doesn't line up again.
func keepsPlace(job *v1alpha1.FluxJob, r *v1alpha1.FluxReservation) bool {
	why := r.Evicted
	if job.Status.Admission != nil && job.Status.Admission.Evicted != nil {
		why = job.Status.Admission.Evicted
	}
	return why != nil && why.Reason != v1alpha1.ReasonNotReady && why.Reason != v1alpha1.ReasonInvalidSpec && job.DeletionTimestamp == nil && !job.Spec.Suspend &&
		job.Status.CompletionTime == nil
}
