package fluxjob

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
	"github.com/armature-dev/armature/operators/fluxjob/internal/needs"
)

// queues returns the names of the FluxSetups that a job's plan reads.
func queues(job *v1alpha1.FluxJob) []string {
	names := []string{needs.Queue(job)}
	if a := job.Status.Admission; a != nil && a.Queue != names[0] {
		names = append(names, a.Queue)
	}
	return names
}

// jobOfPod returns the name of the job that a pod names by its label. The label is the operator's: a template's labels and annotations
// don't replace it.
func jobOfPod(pod *corev1.Pod) []string {
	if name := pod.Labels[LabelFluxJob]; name != "" {
		return []string{name}
	}
	return nil
}

// namespaceOf returns the name of the namespace that a job's plan reads.
func namespaceOf(job *v1alpha1.FluxJob) []string { return []string{job.Namespace} }

// jobsOfSetup returns the jobs that a change of their FluxSetup concerns: all if the rules have changed; else those whose reservation or
// entry in the queue has, and that this manager watches. Jobs behind these entries read their position from time to time.
func jobsOfSetup(m admission.Manager) func(old, setup *v1alpha1.FluxSetup) (all bool, names []types.NamespacedName) {
	return func(old, setup *v1alpha1.FluxSetup) (all bool, names []types.NamespacedName) {
		if old == nil || setup == nil || old.UID != setup.UID || old.Generation != setup.Generation ||
			old.Status.ObservedGeneration != setup.Status.ObservedGeneration || !sameManager(m, old.Status.Manager, setup.Status.Manager) {
			return true, nil
		}
		enqueued := map[types.NamespacedName]bool{}
		changedReservations(enqueued, old.Status.Reservations, setup.Status.Reservations)
		changedEntries(enqueued, old.Status.Queue, setup.Status.Queue)
		for name := range enqueued {
			if m.Sees(name.Namespace) {
				names = append(names, name)
			}
		}
		return false, names
	}
}

// sameManager reports whether two statuses of a queue name the same manager, which m hasn't requested the queue from since.
func sameManager(m admission.Manager, a, b *v1alpha1.FluxSetupManager) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Name == b.Name && slices.Equal(a.Namespaces, b.Namespaces) && requested(m, a).Equal(requested(m, b))
}

// requested is when m has requested the queue, nil if the last request isn't its own.
func requested(m admission.Manager, record *v1alpha1.FluxSetupManager) *metav1.Time {
	if record.Takeover == nil || record.Takeover.By != m.String() {
		return nil
	}
	return &record.Takeover.Time
}

// changedReservations adds the jobs whose reservation is new, gone or marked.
func changedReservations(enqueued map[types.NamespacedName]bool, before, after []v1alpha1.FluxReservation) {
	type share struct {
		uid     types.UID
		attempt int32
		evicted bool
	}
	had := make(map[share]types.NamespacedName, len(before))
	for i := range before {
		r := &before[i]
		had[share{r.UID, r.Attempt, r.Evicted != nil}] = types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
	}
	for i := range after {
		r := &after[i]
		key := share{r.UID, r.Attempt, r.Evicted != nil}
		if _, ok := had[key]; ok {
			delete(had, key)
			continue
		}
		enqueued[types.NamespacedName{Namespace: r.Namespace, Name: r.Name}] = true
	}
	for _, name := range had {
		enqueued[name] = true
	}
}

// changedEntries adds the jobs whose entry in the queue has changed.
func changedEntries(enqueued map[types.NamespacedName]bool, before, after []v1alpha1.FluxQueueEntry) {
	for i := range max(len(before), len(after)) {
		if i < len(before) && i < len(after) && before[i] == after[i] {
			continue
		}
		for _, queue := range [][]v1alpha1.FluxQueueEntry{before, after} {
			if i < len(queue) {
				enqueued[types.NamespacedName{Namespace: queue[i].Namespace, Name: queue[i].Name}] = true
			}
		}
	}
}

// jobsOfNamespace returns all jobs of a namespace if selectors may see it otherwise.
func jobsOfNamespace(old, ns *corev1.Namespace) (all bool, _ []types.NamespacedName) {
	return ns != nil && (old == nil || !maps.Equal(old.Labels, ns.Labels)), nil
}
