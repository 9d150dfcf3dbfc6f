package admission

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/fluxjob/internal/needs"
)

// known has the objects that decide which reservations still hold.
type known struct {
	cohort     *cohort
	jobs       map[types.UID]*v1alpha1.FluxJob // those that have a reservation or an admission
	namespaces map[string]map[string]string    // the labels of the observed namespaces
	view       builder.View
	left       *left // made on demand
}

// newKnown finds the jobs of the reservations.
func (c *cohort) newKnown(jobs []*v1alpha1.FluxJob, namespaces map[string]map[string]string, view builder.View) *known {
	k := &known{cohort: c, jobs: map[types.UID]*v1alpha1.FluxJob{}, namespaces: namespaces, view: view}
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

// settle returns a setup's reservations without those that were given back, and with those that only its jobs have on record. The
// reservations that another manager decides about stay as they are.
func (k *known) settle(setup *v1alpha1.FluxSetup, jobs []*v1alpha1.FluxJob) []v1alpha1.FluxReservation {
	var held []v1alpha1.FluxReservation
	entered := map[types.UID]bool{}
	for i := range setup.Status.Reservations {
		r := &setup.Status.Reservations[i]
		if !entered[r.UID] && k.holds(r, setup.Name) {
			held = append(held, *r)
			held[len(held)-1].Run = 0 // the former name of Attempt
			entered[r.UID] = true
		}
	}
	for _, job := range jobs {
		if a := job.Status.Admission; a != nil && a.Queue == setup.Name && !entered[job.UID] && k.cohort.decidesFor(job.Namespace) {
			held = append(held, v1alpha1.FluxReservation{
				Namespace: job.Namespace, Name: job.Name, UID: job.UID, Attempt: job.Status.Attempts,
				Time: a.Time, Generation: a.Generation, Size: a.Size, Pods: a.Pods, Resources: a.Resources, Evicted: a.Evicted,
			})
		}
	}
	return held
}

// holds reports whether a reservation still holds. What ends it is never undone: a job doesn't come back under the same
// UID, nor to an attempt that is over.
func (k *known) holds(r *v1alpha1.FluxReservation, setup string) bool {
	job := k.jobs[r.UID]
	switch {
	case !k.cohort.decidesFor(r.Namespace):
		return !k.isGoneWithNamespace(r)
	case job == nil:
		return k.hasLeftCluster(r, setup)
	case job.Status.Attempts < r.Attempt:
		return true // the job hasn't accepted it yet
	case job.Status.Attempts > r.Attempt:
		return false
	default:
		return job.Status.Admission != nil && job.Status.Admission.Queue == setup
	}
}

// isGoneWithNamespace reports whether a job that this manager doesn't see is gone with its namespace. The view of the namespaces may lag
// behind that of the setups, by less than a reservation is old.
func (k *known) isGoneWithNamespace(r *v1alpha1.FluxReservation) bool {
	_, exists := k.namespaces[r.Namespace]
	return k.cohort.mine && !exists && k.view.Now.Sub(r.Time.Time) > leftoverDelay
}

// left has the MiniClusters that FluxJobs may have left.
type left struct {
	controllers map[types.UID]bool              // the FluxJobs that have MiniClusters
	orphans     map[types.NamespacedName]string // the queues of those that run without a controller
}

// hasLeftCluster reports whether a FluxJob that is gone has left a MiniCluster that still exists. One that was orphaned counts until it has
// ended: kubectl delete --cascade=orphan removes its owner, and it runs on.
func (k *known) hasLeftCluster(r *v1alpha1.FluxReservation, setup string) bool {
	if k.left == nil {
		k.left = &left{controllers: map[types.UID]bool{}, orphans: map[types.NamespacedName]string{}}
		for _, cluster := range builder.Watched[*v1alpha1.MiniCluster](k.view) {
			switch ref := metav1.GetControllerOfNoCopy(cluster); {
			case ref != nil && ref.Kind == "FluxJob":
				k.left.controllers[ref.UID] = true
			case ref == nil && !needs.IsOver(cluster):
				k.left.orphans[types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}] = cluster.Labels[LabelQueue]
			}
		}
	}
	return k.left.controllers[r.UID] || k.left.orphans[types.NamespacedName{Namespace: r.Namespace, Name: r.Name}] == setup
}

// isTerminating reports whether a reservation's holder was evicted, is being deleted, is suspended, or has ended.
func (k *known) isTerminating(r *v1alpha1.FluxReservation) bool {
	job := k.jobs[r.UID]
	if job == nil || !k.cohort.decidesFor(r.Namespace) {
		return r.Evicted != nil || k.cohort.decidesFor(r.Namespace)
	}
	return r.Evicted != nil || job.DeletionTimestamp != nil || job.Status.CompletionTime != nil || job.Spec.Suspend ||
		(job.Status.Admission != nil && job.Status.Admission.Evicted != nil)
}

// returnsToQueue reports whether the holder of a reservation was evicted and returns to its position in the queue once its pods are gone. A
// job whose MiniCluster was refused doesn't return.
func returnsToQueue(job *v1alpha1.FluxJob, r *v1alpha1.FluxReservation) bool {
	why := r.Evicted
	if job.Status.Admission != nil && job.Status.Admission.Evicted != nil {
		why = job.Status.Admission.Evicted
	}
	return why != nil && why.Reason != v1alpha1.ReasonNotReady && why.Reason != v1alpha1.ReasonInvalidSpec &&
		job.DeletionTimestamp == nil && !job.Spec.Suspend && job.Status.CompletionTime == nil
}
