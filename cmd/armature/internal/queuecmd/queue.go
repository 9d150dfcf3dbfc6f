package queuecmd

import (
	"cmp"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/internal/wellknown"
)

// Queue is a FluxSetup with its jobs.
type Queue struct {
	// Name of the FluxSetup.
	Name string `json:"name"`
	// Missing reports that jobs wait for a FluxSetup that doesn't exist.
	Missing bool `json:"missing,omitempty"`
	// Hidden reports that the user may not read the FluxSetup: its quota, its admitted jobs, and whether it exists, aren't known.
	Hidden bool `json:"hidden,omitempty"`
	// Ready is the reason of its condition Ready: Active, or why it admits no job.
	Ready string `json:"ready,omitempty"`
	// Paused reports that the FluxSetup is paused: no job is admitted.
	Paused bool `json:"paused,omitempty"`
	// Manager is the one that admits its jobs.
	Manager *v1alpha1.FluxSetupManager `json:"manager,omitempty"`
	// Usage is what is used and free of each resource of the quota.
	Usage []v1alpha1.FluxResourceUsage `json:"usage,omitempty"`
	// Admitted are the admitted jobs, in the order of their admission.
	Admitted []AdmittedJob `json:"admitted,omitempty"`
	// Waiting are the jobs that wait: those in the queue by position, then the others.
	Waiting []WaitingJob `json:"waiting,omitempty"`
}

// AdmittedJob is a job with reserved quota.
type AdmittedJob struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Since is the time of its admission.
	Since time.Time `json:"since"`
	Pods  int32     `json:"pods"`
	// Resources are what its pods request.
	Resources corev1.ResourceList `json:"resources,omitempty"`
	// State is the state of the job, or the reason of its eviction.
	State string `json:"state,omitempty"`
}

// WaitingJob is a job that waits.
type WaitingJob struct {
	// Position in the queue; 0 if it isn't in it.
	Position  int32  `json:"position,omitempty"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Since is when the job was created; zero if it could not be read.
	Since time.Time `json:"since,omitzero"`
	// Priority is the effective priority, limited by the queue's maximum for the namespace.
	Priority *int32 `json:"priority,omitempty"`
	// Reason is the reason for the wait in one word; Message is the job's own message.
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
}

// newQueues returns the queues of FluxSetups with their FluxJobs; withMissing adds the queues that jobs name and that don't exist.
func newQueues(setups []v1alpha1.FluxSetup, jobs []v1alpha1.FluxJob, withMissing bool) []Queue {
	byKey := map[types.NamespacedName]*v1alpha1.FluxJob{}
	for i := range jobs {
		byKey[client.ObjectKeyFromObject(&jobs[i])] = &jobs[i]
	}
	waiting := waitingIn(jobs)
	all := make([]Queue, 0, len(setups))
	for i := range setups {
		all = append(all, NewQueue(&setups[i], byKey, waiting[setups[i].Name]))
		delete(waiting, setups[i].Name)
	}
	if withMissing {
		for name, jobs := range waiting {
			all = append(all, NewMissing(name, jobs))
		}
		slices.SortFunc(all, func(a, b Queue) int { return cmp.Compare(a.Name, b.Name) })
	}
	return all
}

// newHidden returns a queue that may not be read, with the FluxJobs that wait in it.
func newHidden(name string, waiting []*v1alpha1.FluxJob) Queue {
	return Queue{Name: name, Hidden: true, Waiting: newWaiting(nil, nil, waiting)}
}

// waitingIn returns the waiting jobs by queue.
func waitingIn(jobs []v1alpha1.FluxJob) map[string][]*v1alpha1.FluxJob {
	waiting := map[string][]*v1alpha1.FluxJob{}
	for i := range jobs {
		if name := WaitsIn(&jobs[i]); name != "" {
			waiting[name] = append(waiting[name], &jobs[i])
		}
	}
	return waiting
}

// WaitsIn returns the name of the queue that a job waits in, empty if it waits in none.
func WaitsIn(job *v1alpha1.FluxJob) string {
	waits := meta.IsStatusConditionTrue(job.Status.Conditions, v1alpha1.ConditionJobWaitingForResources)
	if !waits && !isUnreconciled(job) || job.Labels[v1alpha1.LabelKueueQueue] != "" {
		return ""
	}
	return queueOf(job)
}

// queueOf returns the name of a job's queue.
func queueOf(job *v1alpha1.FluxJob) string {
	return cmp.Or(job.Status.Queue, job.Spec.Queue, v1alpha1.DefaultFluxQueue)
}

// isUnreconciled reports whether no manager has reconciled a job that can wait in a queue: without a manager, none ever does.
func isUnreconciled(job *v1alpha1.FluxJob) bool {
	return job.Status.State == "" && job.Status.ObservedGeneration == 0 && len(job.Status.Conditions) == 0 && !job.Spec.Suspend &&
		job.DeletionTimestamp == nil && !wellknown.IsPaused(job.Annotations)
}

// NewMissing returns a queue that jobs wait in and that doesn't exist.
func NewMissing(name string, waiting []*v1alpha1.FluxJob) Queue {
	return Queue{Name: name, Missing: true, Waiting: newWaiting(nil, nil, waiting)}
}

// NewQueue returns the queue of a FluxSetup, with the states of its admitted jobs, which are looked up by key, and its waiting jobs.
func NewQueue(setup *v1alpha1.FluxSetup, byKey map[types.NamespacedName]*v1alpha1.FluxJob, waiting []*v1alpha1.FluxJob) Queue {
	q := Queue{
		Name: setup.Name, Paused: wellknown.IsPaused(setup.Annotations), Manager: setup.Status.Manager, Usage: setup.Status.Usage,
	}
	if ready := meta.FindStatusCondition(setup.Status.Conditions, "Ready"); ready != nil {
		q.Ready = ready.Reason
	}
	for _, r := range setup.Status.Reservations {
		h := AdmittedJob{Namespace: r.Namespace, Name: r.Name, Since: r.Time.Time, Pods: r.Pods, Resources: r.Resources}
		if job := byKey[types.NamespacedName{Namespace: r.Namespace, Name: r.Name}]; job != nil {
			h.State = string(job.Status.State)
		}
		if r.Evicted != nil {
			h.State = r.Evicted.Reason
		}
		q.Admitted = append(q.Admitted, h)
	}
	q.Waiting = newWaiting(setup, byKey, waiting)
	return q
}

// newWaiting returns the queue by the FluxSetup's status, then the waiting jobs that aren't listed there.
func newWaiting(setup *v1alpha1.FluxSetup, byKey map[types.NamespacedName]*v1alpha1.FluxJob, jobs []*v1alpha1.FluxJob) []WaitingJob {
	var all []WaitingJob
	listed := map[types.NamespacedName]bool{}
	if setup != nil {
		for i, entry := range setup.Status.Queue {
			key := types.NamespacedName{Namespace: entry.Namespace, Name: entry.Name}
			listed[key] = true
			w := WaitingJob{Namespace: entry.Namespace, Name: entry.Name}
			if job := byKey[key]; job != nil {
				w = newWaitingJob(job)
			}
			w.Position, w.Reason = int32(i+1), entry.Reason
			if w.Message == "" && entry.Resource != "" {
				w.Message = "insufficient free quota of " + entry.Resource
			}
			all = append(all, w)
		}
	}
	for _, job := range jobs {
		if !listed[client.ObjectKeyFromObject(job)] {
			all = append(all, newWaitingJob(job))
		}
	}
	last := func(w WaitingJob) int32 { // jobs without a position come last
		if w.Position == 0 {
			return math.MaxInt32
		}
		return w.Position
	}
	slices.SortStableFunc(all, func(a, b WaitingJob) int {
		return cmp.Or(cmp.Compare(last(a), last(b)), a.Since.Compare(b.Since), cmp.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name))
	})
	return all
}

func newWaitingJob(job *v1alpha1.FluxJob) WaitingJob {
	w := WaitingJob{
		Namespace: job.Namespace, Name: job.Name, Since: job.CreationTimestamp.Time,
		Priority: cmp.Or(job.Status.Priority, job.Spec.Priority),
	}
	if job.Status.Position != nil {
		w.Position = *job.Status.Position
	}
	if c := meta.FindStatusCondition(job.Status.Conditions, v1alpha1.ConditionJobWaitingForResources); c != nil && c.Status == "True" {
		w.Reason, w.Message = c.Reason, c.Message
	}
	if isUnreconciled(job) {
		w.Reason, w.Message = "NotReconciled", "no manager has reconciled it"
	}
	return w
}
