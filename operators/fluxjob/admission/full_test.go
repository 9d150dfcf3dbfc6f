package admission

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/fluxjob/internal/queue"
)

// crowd returns so many jobs.
func crowd(n int, change ...func(*v1alpha1.FluxJob)) []*v1alpha1.FluxJob {
	var jobs []*v1alpha1.FluxJob
	for i := range n {
		jobs = append(jobs, makeJob(fmt.Sprintf("crowd-%04d", i), i, change...))
	}
	return jobs
}

func objects(jobs []*v1alpha1.FluxJob, more ...client.Object) []client.Object {
	for _, job := range jobs {
		more = append(more, job)
	}
	return more
}

func manyResources(j *v1alpha1.FluxJob) {
	j.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{}}
	for i := range 32 {
		name := fmt.Sprintf("%s.example.com/%063d", strings.Repeat("d", 63), i)
		j.Spec.Resources.Requests[corev1.ResourceName(name)] = resource.MustParse("1")
	}
}

func evicted(s *v1alpha1.FluxSetup) (names []string) {
	for _, r := range s.Status.Reservations {
		if r.Evicted != nil {
			names = append(names, r.Name)
		}
	}
	return names
}

// The record of a queue's reservations is preempted as its quota is: the jobs of one namespace don't block those of a higher priority.
func TestAFullRecordIsPreempted(t *testing.T) {
	for name, tt := range map[string]struct {
		jobs   int
		change func(*v1alpha1.FluxJob)
	}{"in number": {v1alpha1.MaxFluxReservations, func(*v1alpha1.FluxJob) {}}, "in bytes": {300, manyResources}} {
		t.Run(name, func(t *testing.T) {
			jobs := objects(crowd(tt.jobs, in("crowd"), tt.change))
			setup := settle(t, makeSetup("q", preempting, upTo(5)), 10, jobs...)
			before := len(setup.Status.Reservations)
			jobs = append(jobs, makeJob("next", 5000, tt.change), makeJob("urgent", 6000, tt.change, ofPriority(5)))
			setup = settle(t, setup, 6000, jobs...)
			require.Len(t, setup.Status.Reservations, before)
			assert.Equal(t, []string{"crowd-0000"}, evicted(setup), "one gives way, the first by name of the newest")
			assert.Equal(t, "urgent: Preempting", waiting(setup)[0])
			assert.Contains(t, waiting(setup), "next: ReservationsFull")
			ready := condition(setup, events.ConditionReady)
			assert.Equal(t, v1alpha1.ReasonReservationsFull, ready.Reason)
			assert.NotRegexp(t, "[0-9]", ready.Message, "a count would be written again with each job")

			setup = settle(t, setup, 6001, jobs[1:]...) // the pods of the evicted job have terminated
			assert.Contains(t, held(setup), "urgent")
			assert.Empty(t, evicted(setup))
		})
	}
}

// formerRecord returns a record that was full by the rule of earlier versions, which admitted jobs as long as it had less than 3,000 and
// 1,300,000 bytes, whatever the next one added.
func formerRecord(jobs []*v1alpha1.FluxJob) (*v1alpha1.FluxSetup, []*v1alpha1.FluxJob) {
	setup := makeSetup("q", preempting, upTo(5))
	total := int64(0)
	for i, job := range jobs {
		if total >= 1_300_000 || i == v1alpha1.MaxFluxReservations {
			return setup, jobs[:i]
		}
		r := reserved(job)
		r.Resources = job.Spec.Resources.Requests
		setup.Status.Reservations = append(setup.Status.Reservations, r)
		total += sizeOf(setup, queue.ID{Namespace: r.Namespace, Name: r.Name}, maps.All(r.Resources))
	}
	return setup, jobs
}

// A manager that was upgraded evicts no one because of what its former version has admitted, and for an urgent job no more than that needs.
func TestAnUpgradeKeepsAFullRecord(t *testing.T) {
	tiny := func(j *v1alpha1.FluxJob) { j.Spec.Resources = &corev1.ResourceRequirements{} }
	large := func(j *v1alpha1.FluxJob) {
		j.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{}}
		domain := strings.Repeat(strings.Repeat("d", 60)+".", 3) + strings.Repeat("d", 50) + ".example.com"
		for i := range 32 {
			j.Spec.Resources.Requests[corev1.ResourceName(fmt.Sprintf("%s/%063d", domain, i))] = resource.MustParse("1")
		}
	}
	for name, change := range map[string]func(*v1alpha1.FluxJob){
		"tiny": tiny, "of many bytes": manyResources, "of the most bytes": large,
		"long names": func(j *v1alpha1.FluxJob) { j.Name += strings.Repeat("n", 53); j.Namespace = strings.Repeat("n", 63) },
	} {
		t.Run(name, func(t *testing.T) {
			setup, jobs := formerRecord(crowd(v1alpha1.MaxFluxReservations, change))
			before := len(jobs)
			setup = settle(t, setup, 6000, objects(jobs)...)
			require.Len(t, setup.Status.Reservations, before)
			require.Empty(t, evicted(setup))
			setup = settle(t, setup, 6000, objects(jobs, makeJob("urgent", 6000, change, ofPriority(5)))...)
			assert.LessOrEqual(t, len(evicted(setup)), 1)
			assert.LessOrEqual(t, before, len(setup.Status.Reservations))
		})
	}
}

// Earlier versions admitted a job beside less than 1,300,000 bytes. What they have recorded isn't too much.
func TestTheRecordHasRoomForWhatEarlierVersionsAdmitted(t *testing.T) {
	setup := makeSetup(strings.Repeat("q", 253))
	job := queue.ID{Namespace: strings.Repeat("n", 63), Name: strings.Repeat("j", 253)}
	resources := corev1.ResourceList{}
	for i := range 32 {
		resources[corev1.ResourceName(fmt.Sprintf("%s/%063d", strings.Repeat("d", 253), i))] = resource.MustParse("1")
	}
	assert.LessOrEqual(t, 1_300_000-1+sizeOf(setup, job, maps.All(resources)), int64(maxSize))
}

// A record with more than its limit preempts for no one, so that an urgent job doesn't evict all that are too many. Jobs end, and then it
// evicts the one that it needs.
func TestAnOverfullRecordIsNotPreempted(t *testing.T) {
	for name, tt := range map[string]struct {
		jobs, most int
		change     func(*v1alpha1.FluxJob)
	}{
		"in number": {v1alpha1.MaxFluxReservations + 200, v1alpha1.MaxFluxReservations, func(*v1alpha1.FluxJob) {}},
		"in bytes":  {400, 234, manyResources},
	} {
		t.Run(name, func(t *testing.T) {
			jobs := crowd(tt.jobs, tt.change)
			setup := makeSetup("q", preempting, upTo(5), withReservations(jobs...))
			for i, job := range jobs {
				setup.Status.Reservations[i].Resources = job.Spec.Resources.Requests
			}
			urgent := makeJob("urgent", 6000, tt.change, ofPriority(5))
			setup = settle(t, setup, 6000, objects(jobs, urgent)...)
			require.Len(t, setup.Status.Reservations, tt.jobs)
			require.Empty(t, evicted(setup))
			assert.Equal(t, []string{"urgent: ReservationsFull"}, waiting(setup))

			setup = settle(t, setup, 6001, objects(jobs[:tt.most+1], urgent)...)
			require.Empty(t, evicted(setup), "one is still too many")
			setup = settle(t, setup, 6002, objects(jobs[:tt.most], urgent)...)
			assert.Len(t, evicted(setup), 1)
			assert.Equal(t, "urgent: Preempting", waiting(setup)[0])
		})
	}
}

// No queue of a cohort uses the record of another, and none evicts a job of another for it.
func TestARecordIsNotLent(t *testing.T) {
	jobs := crowd(v1alpha1.MaxFluxReservations, ofPriority(5))
	others := crowd(v1alpha1.MaxFluxReservations+1, inQueue("p"), func(j *v1alpha1.FluxJob) {
		j.Name = "other-" + j.Name
		j.UID = types.UID(j.Name)
	})
	full := makeSetup("q", inCohort("c"), preempting, upTo(5), podLimit(9000), withReservations(jobs...))
	overfull := makeSetup("p", inCohort("c"), preempting, upTo(5), podLimit(9000), withReservations(others...))
	urgent := makeJob("urgent", 6000, ofPriority(5))
	all := append(objects(jobs, urgent), objects(others)...)
	got := settle(t, full, 6000, append(all, overfull)...)
	assert.Empty(t, evicted(got))
	assert.Equal(t, []string{"urgent: ReservationsFull"}, waiting(got))
	assert.Empty(t, evicted(settle(t, overfull, 6000, append(all, full)...)))
}

func TestAFullRecordBlocksAStrictQueue(t *testing.T) {
	jobs := crowd(v1alpha1.MaxFluxReservations)
	strict := func(s *v1alpha1.FluxSetup) { s.Spec.QueueingStrategy = v1alpha1.StrictFIFO }
	got := settle(t, makeSetup("q", strict, withReservations(jobs...)), 6000, objects(jobs, makeJob("a", 6000), makeJob("b", 6001))...)
	assert.Equal(t, []string{"a: ReservationsFull", "b: BlockedByHeadOfQueue"}, waiting(got))
	assert.Equal(t, v1alpha1.ReasonReservationsFull, condition(got, events.ConditionReady).Reason)
}

func TestAJobThatLacksQuotaTooWaitsForThat(t *testing.T) {
	jobs := crowd(v1alpha1.MaxFluxReservations)
	got := settle(t, makeSetup("q", podLimit(6001), withReservations(jobs...)), 6000, objects(jobs, makeJob("a", 6000))...)
	assert.Equal(t, []string{"a: WaitingForQuota pods"}, waiting(got))
	assert.Equal(t, v1alpha1.ReasonReservationsFull, condition(got, events.ConditionReady).Reason)
}
