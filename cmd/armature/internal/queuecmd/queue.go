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
)

// Queue is a FluxSetup as it is shown.
type Queue struct {
	// Name of the FluxSetup.
	Name string `json:"name"`
	// Missing says that jobs wait for it, and that it doesn't exist.
	Missing bool `json:"missing,omitempty"`
	// Ready is the reason of its condition Ready: Active, or why it admits no job.
	Ready string `json:"ready,omitempty"`
	// Manager is the one that admits its jobs.
	Manager *v1alpha1.FluxSetupManager `json:"manager,omitempty"`
	// Usage is what is used and free of each resource of the quota.
	Usage []v1alpha1.FluxResourceUsage `json:"usage,omitempty"`
	// Holding are the jobs that have their share, the first one first.
	Holding []Holder `json:"holding,omitempty"`
	// Waiting are the jobs that wait: the line, then those that aren't in it.
	Waiting []Waiter `json:"waiting,omitempty"`
}

// Holder is a job that has its share.
type Holder struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Since is when it was admitted.
	Since time.Time `json:"since"`
	Pods  int32     `json:"pods"`
	// Resources are what its pods request.
	Resources corev1.ResourceList `json:"resources,omitempty"`
	// State is the job's; of one that is being pushed out, why.
	State string `json:"state,omitempty"`
}

// Waiter is a job that waits.
type Waiter struct {
	// Position in the line; 0 if it isn't in it.
	Position  int32  `json:"position,omitempty"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Since is when the job was created; zero if it could not be read.
	Since time.Time `json:"since,omitzero"`
	// Priority is the one that counts, at most what the queue lets the namespace have.
	Priority *int32 `json:"priority,omitempty"`
	// Reason is why it waits, in one word; Message is the job's own sentence.
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
}

// newQueues puts together what FluxSetups and FluxJobs tell; with the queues that jobs wait for and that don't exist, if wanted.
func newQueues(setups []v1alpha1.FluxSetup, jobs []v1alpha1.FluxJob, withMissing bool) []Queue {
	byKey := map[types.NamespacedName]*v1alpha1.FluxJob{}
	waiting := map[string][]*v1alpha1.FluxJob{}
	for i := range jobs {
		job := &jobs[i]
		byKey[client.ObjectKeyFromObject(job)] = job
		if name := WaitsIn(job); name != "" {
			waiting[name] = append(waiting[name], job)
		}
	}
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

// WaitsIn returns the name of the queue that a job waits in, empty if it waits in none.
func WaitsIn(job *v1alpha1.FluxJob) string {
	waits := meta.IsStatusConditionTrue(job.Status.Conditions, v1alpha1.ConditionJobWaitingForResources)
	if !waits || job.Labels[v1alpha1.LabelKueueQueue] != "" {
		return ""
	}
	return cmp.Or(job.Status.Queue, job.Spec.Queue, v1alpha1.DefaultFluxQueue)
}

// NewMissing returns a queue that jobs wait in and that doesn't exist.
func NewMissing(name string, waiting []*v1alpha1.FluxJob) Queue {
	return Queue{Name: name, Missing: true, Waiting: newWaiting(nil, nil, waiting)}
}

// NewQueue returns a queue as its FluxSetup tells it, with what the jobs tell that have their share, by namespace and name, and that
// wait.
func NewQueue(setup *v1alpha1.FluxSetup, byKey map[types.NamespacedName]*v1alpha1.FluxJob, waiting []*v1alpha1.FluxJob) Queue {
	q := Queue{Name: setup.Name, Manager: setup.Status.Manager, Usage: setup.Status.Usage}
	if ready := meta.FindStatusCondition(setup.Status.Conditions, "Ready"); ready != nil {
		q.Ready = ready.Reason
	}
	for _, r := range setup.Status.Reservations {
		h := Holder{Namespace: r.Namespace, Name: r.Name, Since: r.Time.Time, Pods: r.Pods, Resources: r.Resources}
		if job := byKey[types.NamespacedName{Namespace: r.Namespace, Name: r.Name}]; job != nil {
			h.State = string(job.Status.State)
		}
		if r.Evicted != nil {
			h.State = r.Evicted.Reason
		}
		q.Holding = append(q.Holding, h)
	}
	q.Waiting = newWaiting(setup, byKey, waiting)
	return q
}

// newWaiting lists the line as the FluxSetup tells it, and the jobs that wait behind it or outside of it.
func newWaiting(setup *v1alpha1.FluxSetup, byKey map[types.NamespacedName]*v1alpha1.FluxJob, jobs []*v1alpha1.FluxJob) []Waiter {
	var all []Waiter
	inLine := map[types.NamespacedName]bool{}
	if setup != nil {
		for i, place := range setup.Status.Queue {
			key := types.NamespacedName{Namespace: place.Namespace, Name: place.Name}
			inLine[key] = true
			w := Waiter{Namespace: place.Namespace, Name: place.Name}
			if job := byKey[key]; job != nil {
				w = newWaiter(job)
			}
			w.Position, w.Reason = int32(i+1), place.Reason
			if w.Message == "" && place.Resource != "" {
				w.Message = "there isn't enough of " + place.Resource
			}
			all = append(all, w)
		}
	}
	for _, job := range jobs {
		if !inLine[client.ObjectKeyFromObject(job)] {
			all = append(all, newWaiter(job))
		}
	}
	last := func(w Waiter) int32 { // those without a position are behind all others
		if w.Position == 0 {
			return math.MaxInt32
		}
		return w.Position
	}
	slices.SortStableFunc(all, func(a, b Waiter) int {
		return cmp.Or(cmp.Compare(last(a), last(b)), a.Since.Compare(b.Since), cmp.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name))
	})
	return all
}

func newWaiter(job *v1alpha1.FluxJob) Waiter {
	w := Waiter{
		Namespace: job.Namespace, Name: job.Name, Since: job.CreationTimestamp.Time,
		Priority: cmp.Or(job.Status.Priority, job.Spec.Priority),
	}
	if job.Status.Position != nil {
		w.Position = *job.Status.Position
	}
	if c := meta.FindStatusCondition(job.Status.Conditions, v1alpha1.ConditionJobWaitingForResources); c != nil && c.Status == "True" {
		w.Reason, w.Message = c.Reason, c.Message
	}
	return w
}
