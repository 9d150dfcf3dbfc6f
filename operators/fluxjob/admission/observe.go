package admission

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/fluxjob/internal/needs"
	"github.com/armature-dev/armature/operators/fluxjob/internal/queue"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

// cohort is the setups that lend to each other, and their jobs.
type cohort struct {
	manager  Manager                    // the one that makes the plan
	owner    *v1alpha1.FluxSetupManager // the one that manages the cohort; nil if none does
	mine     bool                       // this manager does, or may from now on
	mayAdmit bool                       // it is on record in all setups, so that it may admit and evict

	setups       []*v1alpha1.FluxSetup // by name
	ranks        []*needs.Priorities   // of each setup
	self         int                   // the one whose plan this is
	known        *known
	reservations [][]v1alpha1.FluxReservation // of each setup
	names        []string                     // of what is counted: what an amount's index means

	jobs           []*v1alpha1.FluxJob // those that queue.State's jobs are
	pending        int                 // how many wait for self, also those that can't be admitted as they are; not those it isn't for
	oldestExcluded *metav1.Time        // when the first of those was created that wait for self and are not among jobs
}

// observe returns the cohort of a setup, and the state that the decisions depend on.
func (m Manager) observe(self *v1alpha1.FluxSetup, view builder.View) (*cohort, queue.State) {
	c := &cohort{manager: m, setups: []*v1alpha1.FluxSetup{self}}
	for _, other := range builder.Watched[*v1alpha1.FluxSetup](view) {
		if other.Name != self.Name && self.Spec.Cohort != "" && other.Spec.Cohort == self.Spec.Cohort && other.DeletionTimestamp == nil {
			c.setups = append(c.setups, other)
		}
	}
	slices.SortFunc(c.setups, func(a, b *v1alpha1.FluxSetup) int { return cmp.Compare(a.Name, b.Name) })
	c.self = slices.Index(c.setups, self)
	c.findManager()
	c.names = counted(c.setups)
	jobs, namespaces := builder.Watched[*v1alpha1.FluxJob](view), namespaceLabels(view)
	c.known = c.newKnown(jobs, namespaces, view)
	state := queue.State{Now: view.Now, Private: len(private)}
	for i, setup := range c.setups {
		held := c.known.settle(setup, jobs)
		c.reservations, c.ranks = append(c.reservations, held), append(c.ranks, needs.PrioritiesOf(setup))
		state.Setups = append(state.Setups, c.rules(setup))
		for r := range held {
			state.Holders = append(state.Holders, c.holder(i, &held[r]))
		}
	}
	c.addJobs(&state, jobs, namespaces)
	return c, state
}

// counted returns the names of what is counted: what any of the quotas limits, and what a status records. It returns each once: the API
// server refuses a status that has a usage twice. A job that lacks several waits for the first of them, so the record is last.
func counted(setups []*v1alpha1.FluxSetup) []string {
	fixed := []string{needs.MiniClusters, needs.NumberOfPods}
	var names []string
	for _, s := range setups {
		for name := range s.Spec.Quota.Resources {
			if !slices.Contains(fixed, string(name)) && !slices.Contains(private, string(name)) { // the spec is invalid otherwise
				names = append(names, string(name))
			}
		}
	}
	slices.Sort(names)
	return slices.Concat(fixed, slices.Compact(names), private)
}

// rules returns a setup as numbers.
func (c *cohort) rules(setup *v1alpha1.FluxSetup) queue.Setup {
	spec := &setup.Spec
	invalid := len(validate(spec)) > 0
	s := queue.Setup{
		Quota: c.limits(&spec.Quota), Borrow: c.limits(spec.BorrowingLimit), Lend: c.limits(spec.LendingLimit),
		Strict:   spec.QueueingStrategy == v1alpha1.StrictFIFO,
		Preempts: spec.Preemption == v1alpha1.PreemptionLowerPriority,
		Hold:     !c.mayAdmit || invalid || spec.StopPolicy == v1alpha1.StopHold || setup.DeletionTimestamp != nil,
		Drain:    c.mayAdmit && !invalid && spec.StopPolicy == v1alpha1.StopHoldAndDrain,
	}
	c.limitRecord(&s)
	return s
}

// limits returns a quota as amounts.
func (c *cohort) limits(quota *v1alpha1.FluxQuota) queue.Amounts {
	amounts := make(queue.Amounts, len(c.names))
	for r, name := range c.names {
		amounts[r] = queue.Unlimited
		switch {
		case quota == nil || slices.Contains(private, name):
		case name == needs.MiniClusters:
			if quota.MiniClusters != nil {
				amounts[r] = int64(max(0, *quota.MiniClusters))
			}
		case name == needs.NumberOfPods:
			if quota.Pods != nil {
				amounts[r] = int64(max(0, *quota.Pods))
			}
		default:
			resource := corev1.ResourceName(name)
			if q, ok := quota.Resources[resource]; ok {
				amounts[r] = needs.Scaled(resource, q)
			}
		}
	}
	return amounts
}

// holder returns a reservation as numbers.
func (c *cohort) holder(setup int, r *v1alpha1.FluxReservation) queue.Holder {
	h := queue.Holder{
		ID: queue.ID{Namespace: r.Namespace, Name: r.Name}, Setup: setup, Since: r.Time.Time,
		Terminating: c.known.isTerminating(r), Holds: c.holds(setup, r),
	}
	h.Stays = c.known.stays(r, c.setups[setup].Name)
	if h.Stays || !c.decidesFor(r.Namespace) {
		h.Priority = math.MaxInt32 // no job preempts what doesn't leave, or isn't known
	}
	if job := c.known.jobs[r.UID]; job != nil && !h.Stays {
		h.Priority = c.priority(setup, job)
		h.ReadyBy = c.readyBy(setup, r, job)
	}
	return h
}

// readyBy returns when the pods of a holder must be ready, zero if they were or have no time limit. The job's own pass records that they
// were. After a pause, or if both passes are due at once, this pass may come first, so the MiniCluster counts until then.
func (c *cohort) readyBy(setup int, r *v1alpha1.FluxReservation, job *v1alpha1.FluxJob) time.Time {
	limit := c.setups[setup].Spec.Readiness
	if limit == nil || job.Status.Admission != nil && job.Status.Admission.ReadyTime != nil {
		return time.Time{}
	}
	end, now := lifecycle.End(r.Time, int64(limit.TimeoutSeconds)), c.known.view.Now
	if !now.Before(end) && c.known.metReadiness(r) {
		return now.Add(readyDelay)
	}
	return end
}

// holds returns what is reserved in a setup, as amounts.
func (c *cohort) holds(setup int, r *v1alpha1.FluxReservation) queue.Amounts {
	amounts := make(queue.Amounts, len(c.names))
	for i, name := range c.names {
		switch name {
		case needs.MiniClusters, reservations:
			amounts[i] = 1
		case reservationBytes:
			amounts[i] = sizeOf(c.setups[setup], queue.ID{Namespace: r.Namespace, Name: r.Name}, maps.All(r.Resources))
		case needs.NumberOfPods:
			amounts[i] = int64(r.Pods)
		default:
			resource := corev1.ResourceName(name)
			if q, ok := r.Resources[resource]; ok {
				amounts[i] = needs.Scaled(resource, q)
			}
		}
	}
	return amounts
}

// addJobs adds the jobs that can be admitted in their current state, or could once their pods have terminated.
func (c *cohort) addJobs(state *queue.State, jobs []*v1alpha1.FluxJob, namespaces map[string]map[string]string) {
	index := make(map[string]int, len(c.setups))
	allowed := make([]func(map[string]string) bool, len(c.setups))
	reserved := map[types.UID]*v1alpha1.FluxReservation{}
	for i, s := range c.setups {
		index[s.Name], allowed[i] = i, needs.Selects(s.Spec.NamespaceSelector)
		for r := range c.reservations[i] {
			reserved[c.reservations[i][r].UID] = &c.reservations[i][r]
		}
	}
	// Room for all, if this is the only cohort, and for their amounts.
	state.Jobs, c.jobs = make([]queue.Job, 0, len(jobs)), make([]*v1alpha1.FluxJob, 0, len(jobs))
	amounts := make(queue.Amounts, len(jobs)*len(c.names))
	for _, job := range jobs {
		i, ok := index[needs.Queue(job)]
		r := reserved[job.UID]
		waits := r == nil && needs.Wants(job) || r != nil && returnsToQueue(job, r)
		if !ok || !waits || isPaused(job) || !allowed[i](namespaces[job.Namespace]) {
			continue
		}
		setup := c.setups[i]
		if i == c.self && r == nil {
			c.pending++
		}
		size := needs.Size(job, setup)
		limit := setup.Spec.MiniCluster.MaxSize
		if limit != nil && needs.Most(job, size) > *limit || len(needs.Problems(job)) > 0 ||
			needs.Refused(job) {
			if i == c.self {
				c.oldestExcluded = earlier(c.oldestExcluded, &job.CreationTimestamp)
			}
			continue
		}
		pending := c.queueJob(i, job, c.priority(i, job), amounts[:len(c.names):len(c.names)])
		pending.Terminating, amounts = r != nil, amounts[len(c.names):]
		state.Jobs = append(state.Jobs, pending)
		c.jobs = append(c.jobs, job)
	}
}

// queueJob returns a job that waits as numbers. It puts what the job needs into amounts.
func (c *cohort) queueJob(setup int, job *v1alpha1.FluxJob, priority int32, amounts queue.Amounts) queue.Job {
	pending := needs.QueueJob(job, priority)
	pending.Setup, pending.Needs = setup, amounts
	size := needs.Size(job, c.setups[setup])
	for r, name := range c.names {
		switch name {
		case reservations:
			amounts[r] = 1
		case reservationBytes:
			amounts[r] = sizeOf(c.setups[setup], pending.ID, needs.Requests(job, size))
		default:
			amounts[r] = needs.Counted(job, size, name)
		}
	}
	if t := job.Status.RequeueTime; t != nil {
		pending.NotBefore = t.Time
	}
	return pending
}

// priority returns a job's priority in one of the setups.
func (c *cohort) priority(setup int, job *v1alpha1.FluxJob) int32 {
	return c.ranks[setup].Of(job, c.known.namespaces[job.Namespace])
}

// namespaceLabels returns the labels of the known namespaces.
func namespaceLabels(view builder.View) map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, ns := range builder.Watched[*corev1.Namespace](view) {
		all[ns.Name] = needs.LabelsOf(ns)
	}
	return all
}
