package admission

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/operators/fluxjob/internal/needs"
)

// known has the objects that decide which reservations still hold.
type known struct {
	cohort     *cohort
	jobs       map[types.UID]*v1alpha1.FluxJob // those that have a reservation or an admission
	namespaces map[string]map[string]string    // the labels of the observed namespaces
	view       builder.View
	clusters   *observedClusters // made on demand
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
		return k.isUnseen(r) || k.hasLeftCluster(r, setup)
	case job.Status.Attempts < r.Attempt:
		return true // the job hasn't accepted it yet
	case job.Status.Attempts > r.Attempt:
		return false
	default:
		a := job.Status.Admission // of a job that is being deleted, nil while its orphaned MiniCluster has no pods
		return a != nil && a.Queue == setup || job.DeletionTimestamp != nil && k.orphan(r, setup) != nil
	}
}

// isGoneWithNamespace reports whether a job that this manager doesn't see is gone with its namespace. The view of the namespaces may lag
// behind that of the setups, by less than a reservation is old.
func (k *known) isGoneWithNamespace(r *v1alpha1.FluxReservation) bool {
	_, exists := k.namespaces[r.Namespace]
	return k.cohort.mine && !exists && k.view.Now.Sub(r.Time.Time) > leftoverDelay
}

// isUnseen reports whether the job of a reservation may be missing only in the cache: after a restart, the view of the jobs may lag behind
// that of the setups. A job is older than its reservation.
func (k *known) isUnseen(r *v1alpha1.FluxReservation) bool {
	return k.view.Now.Sub(r.Time.Time) < unseenDelay
}

// observedClusters has the MiniClusters that FluxJobs have, or may have left.
type observedClusters struct {
	byName map[types.NamespacedName]*v1alpha1.MiniCluster
	owners map[ownerID]bool // the FluxJobs that control them
}

// ownerID is the FluxJob that a MiniCluster names as its owner. Owners are in the same namespace: any user can write an owner reference.
type ownerID struct {
	namespace string
	uid       types.UID
}

// hasLeftCluster reports whether a FluxJob that is gone has left a MiniCluster that still exists. One that was orphaned counts until it has
// ended: kubectl delete --cascade=orphan removes its owner, and it runs on.
func (k *known) hasLeftCluster(r *v1alpha1.FluxReservation, setup string) bool {
	return k.findClusters().owners[ownerID{r.Namespace, r.UID}] || k.orphan(r, setup) != nil
}

// orphan returns the MiniCluster that runs without a controller and has the share of a reservation, nil if there is none.
func (k *known) orphan(r *v1alpha1.FluxReservation, setup string) *v1alpha1.MiniCluster {
	cluster := k.clusterOf(r)
	if cluster == nil || metav1.GetControllerOfNoCopy(cluster) != nil || needs.IsOver(cluster) || cluster.Labels[LabelQueue] != setup {
		return nil
	}
	return cluster
}

// metReadiness reports whether the MiniCluster of a reservation's job has all pods ready, or has ended.
func (k *known) metReadiness(r *v1alpha1.FluxReservation) bool {
	cluster := k.clusterOf(r)
	if cluster == nil || cluster.Spec.Suspend { // its conditions are about an earlier attempt
		return false
	}
	ref := metav1.GetControllerOfNoCopy(cluster)
	return ref != nil && ref.UID == r.UID &&
		(meta.IsStatusConditionTrue(cluster.Status.Conditions, v1alpha1.MiniClusterPodsReady) || needs.IsOver(cluster))
}

// clusterOf returns the MiniCluster with the name of a reservation's job, whoever controls it; nil if there is none.
func (k *known) clusterOf(r *v1alpha1.FluxReservation) *v1alpha1.MiniCluster {
	return k.findClusters().byName[types.NamespacedName{Namespace: r.Namespace, Name: r.Name}]
}

// findClusters finds the MiniClusters that FluxJobs have, or may have left.
func (k *known) findClusters() *observedClusters {
	if k.clusters != nil {
		return k.clusters
	}
	k.clusters = &observedClusters{byName: map[types.NamespacedName]*v1alpha1.MiniCluster{}, owners: map[ownerID]bool{}}
	for _, cluster := range builder.Watched[*v1alpha1.MiniCluster](k.view) {
		k.clusters.byName[client.ObjectKeyFromObject(cluster)] = cluster
		if ref := metav1.GetControllerOfNoCopy(cluster); ref != nil && isFluxJob(ref) {
			k.clusters.owners[ownerID{cluster.Namespace, ref.UID}] = true
		}
	}
	return k.clusters
}

func isFluxJob(ref *metav1.OwnerReference) bool {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	return err == nil && gv.Group == v1alpha1.GroupVersion.Group && ref.Kind == "FluxJob"
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

// stays reports whether a reservation's holder gives nothing back until a user does something: it is paused; or it was deleted, and its
// MiniCluster runs on, as an orphan or because of a finalizer of the job.
func (k *known) stays(r *v1alpha1.FluxReservation, setup string) bool {
	job := k.jobs[r.UID]
	switch {
	case !k.cohort.decidesFor(r.Namespace):
		return false
	case job == nil:
		orphan := k.orphan(r, setup)
		return orphan != nil && orphan.DeletionTimestamp == nil
	case job.DeletionTimestamp == nil:
		return isPaused(job)
	case job.Status.Admission == nil && k.orphan(r, setup) == nil || slices.Contains(job.Finalizers, metav1.FinalizerDeleteDependents):
		return false
	default:
		cluster := k.clusterOf(r)
		return cluster != nil && cluster.DeletionTimestamp == nil && !cluster.Spec.Suspend && !needs.IsOver(cluster)
	}
}

// isPaused reports whether a user has stopped all passes over a job. A job that is being deleted isn't paused.
func isPaused(job *v1alpha1.FluxJob) bool {
	return wellknown.IsPaused(job.Annotations) && job.DeletionTimestamp == nil
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
