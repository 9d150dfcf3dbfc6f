package fluxjob

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

func TestWhyAJobWaits(t *testing.T) {
	selecting := func(s *v1alpha1.FluxSetupSpec) {
		s.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "hpc"}}
	}
	inLine := func(places ...v1alpha1.FluxQueueEntry) *v1alpha1.FluxSetup {
		s := makeSetup("q", clusters(1))
		s.Status.Queue = append([]v1alpha1.FluxQueueEntry{{Namespace: "default", Name: "first"}}, places...)
		return s
	}
	place := func(reason, resource string) *v1alpha1.FluxSetup {
		return inLine(v1alpha1.FluxQueueEntry{Namespace: "default", Name: "a", Reason: reason, Resource: resource})
	}
	small := makeSetup("q")
	small.Status.Usage = []v1alpha1.FluxResourceUsage{{Name: "pods", Maximum: resource.MustParse("1")}}
	invalid := makeSetup("q")
	invalid.Status.Conditions = []metav1.Condition{{Type: events.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonInvalidSpec}}
	stopped := makeSetup("q", func(s *v1alpha1.FluxSetupSpec) { s.StopPolicy = v1alpha1.StopHold })
	backingOff := makeJob("a", 1)
	backingOff.Status.RequeueTime = new(at(60))

	tests := map[string]struct {
		job             *v1alpha1.FluxJob
		setup           *v1alpha1.FluxSetup
		reason, message string
		position        *int32
		warned          bool
	}{
		"no such queue": {setup: makeSetup("other"), reason: v1alpha1.ReasonQueueNotFound, warned: true,
			message: `there is no FluxSetup "q": create it, or set spec.queue to the name of one that exists`},
		"an invalid queue": {setup: invalid, reason: v1alpha1.ReasonQueueInvalid, warned: true,
			message: `FluxSetup "q" admits no one, because its spec is invalid`},
		"another's queue": {setup: makeSetup("q", selecting), reason: v1alpha1.ReasonNamespaceNotAllowed, warned: true,
			message: `FluxSetup "q" isn't for namespace "default": its namespaceSelector doesn't match the namespace's labels`},
		"a size over the bound": {setup: makeSetup("q", func(s *v1alpha1.FluxSetupSpec) { s.MiniCluster.MaxSize = ptr.To[int32](1) }),
			reason: v1alpha1.ReasonExceedsMaximumQuota, warned: true, message: `the size is 2, and FluxSetup "q" admits at most miniCluster.maxSize, 1`},
		"more than there is": {setup: small, reason: v1alpha1.ReasonExceedsMaximumQuota, warned: true,
			message: `it requests 2 pods; the quota of FluxSetup "q" allows at most 1 for one job`},
		"a stopped queue": {setup: stopped, reason: v1alpha1.ReasonQueueStopped, message: `FluxSetup "q" has stopPolicy Hold`},
		"not yet seen":    {setup: makeSetup("q"), reason: v1alpha1.ReasonQueued, message: `it waits for its turn in queue "q"`},
		"short of something": {setup: place(v1alpha1.ReasonWaitingForQuota, "pods"), reason: v1alpha1.ReasonWaitingForQuota, position: ptr.To[int32](2),
			message: `it requests 2 pods; the free quota of queue "q" is smaller`},
		"short of the record": {setup: place(v1alpha1.ReasonReservationsFull, ""), reason: v1alpha1.ReasonReservationsFull,
			position: ptr.To[int32](2), message: `the status of FluxSetup "q" can't record its reservation beside those of the admitted jobs`},
		"others are leaving": {setup: place(v1alpha1.ReasonPreempting, ""), reason: v1alpha1.ReasonPreempting, position: ptr.To[int32](2),
			message: `queue "q" admits it when the pods of preempted jobs have terminated`},
		"behind others": {setup: place(v1alpha1.ReasonBlockedByHeadOfQueue, ""), reason: v1alpha1.ReasonBlockedByHeadOfQueue, position: ptr.To[int32](2),
			message: `queue "q" is StrictFIFO, and a job before this one has to wait`},
		"after a timeout": {job: backingOff, setup: place(v1alpha1.ReasonBackoff, ""), reason: v1alpha1.ReasonBackoff, position: ptr.To[int32](2),
			message: `the pods weren't ready in time; it returns to the queue at 2026-01-01T00:01:00Z`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.job == nil {
				tt.job = makeJob("a", 1)
			}
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default", Labels: map[string]string{"team": "web"}}}
			s := &fixture{t: t, job: tt.job, setups: []client.Object{tt.setup, namespace}}
			told := s.step(10)
			assert.Equal(t, tt.warned, len(told) > 0, "an event for what someone must do something about")
			assert.Equal(t, v1alpha1.FluxJobWaiting, s.job.Status.State)
			assert.Equal(t, "q", s.job.Status.Queue)
			assert.Equal(t, int32(2), s.job.Status.Size)
			assert.Equal(t, "True Requested", s.is(v1alpha1.ConditionJobRequested))
			assert.Equal(t, "True "+tt.reason, s.is(v1alpha1.ConditionJobWaitingForResources))
			assert.Equal(t, "False "+tt.reason, s.is(events.ConditionReady))
			assert.Equal(t, "False "+tt.reason, s.is(v1alpha1.ConditionJobMiniClusterReady))
			assert.Equal(t, "False NotFinished", s.is(v1alpha1.ConditionJobFinished))
			assert.Equal(t, tt.message, s.message(v1alpha1.ConditionJobWaitingForResources))
			assert.Equal(t, tt.position, s.job.Status.Position)
			assert.Empty(t, s.step(11), "told once")
			assert.Empty(t, s.plan.Children)
		})
	}
}

func TestPositionsFarBehind(t *testing.T) {
	setup := makeSetup("q", clusters(1))
	setup.Status.Queue = make([]v1alpha1.FluxQueueEntry, v1alpha1.MaxFluxQueueEntries)
	setup.Status.PendingWorkloads = 700
	for _, n := range []int32{200, 500} {
		setup.Status.QueuePositions = append(setup.Status.QueuePositions, v1alpha1.FluxQueuePosition{Position: n, QueuedTime: at(int(n)), Name: "mark", Namespace: "default"})
	}
	for second, want := range map[int]struct {
		position int32
		again    time.Duration
	}{150: {200, farDelay}, 200: {200, farDelay}, 201: {500, farDelay}, 600: {1000, farDelay}} {
		s := &fixture{t: t, job: makeJob("a", second), setups: []client.Object{setup}}
		s.step(1000)
		require.NotNil(t, s.job.Status.Position)
		assert.Equal(t, want.position, *s.job.Status.Position)
		assert.Equal(t, want.again, s.plan.RequeueAfter)
	}
	s := &fixture{t: t, job: makeJob("a", 150, priority(-1)), setups: []client.Object{setup}}
	setup.Status.PendingWorkloads = 1700
	s.step(1000)
	assert.Equal(t, ptr.To[int32](2000), s.job.Status.Position)
	assert.Equal(t, farthestDelay, s.plan.RequeueAfter)
	setup.Status.PendingWorkloads = 900
	s.step(1001)
	assert.Equal(t, ptr.To[int32](1000), s.job.Status.Position)
	assert.Equal(t, statusDelay, s.plan.StatusCanWait, "a place far behind is written when there is time")
}

func TestAnInvalidJob(t *testing.T) {
	job := makeJob("a", 1, func(s *v1alpha1.FluxJobSpec) {
		s.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("-1")}}
	})
	s := &fixture{t: t, job: job, setups: []client.Object{offer(job)}}
	assert.Equal(t, []string{v1alpha1.ReasonInvalidSpec}, s.step(5))
	assert.Equal(t, v1alpha1.FluxJobRequested, s.job.Status.State)
	assert.Equal(t, "False InvalidSpec", s.is(v1alpha1.ConditionJobRequested))
	assert.Equal(t, "True InvalidSpec", s.is(events.ConditionStalled))
	assert.Contains(t, s.message(events.ConditionReady), `spec.resources.requests[cpu]: Invalid value: "-1"`)
	assert.Equal(t, int32(1), s.job.Status.Attempts, "what was reserved is declined")
	assert.Nil(t, s.job.Status.Admission)
	assert.Empty(t, s.step(6))

	s.job.Spec.Resources, s.job.Generation = nil, 2
	assert.Empty(t, s.step(7))
	assert.Equal(t, v1alpha1.FluxJobWaiting, s.job.Status.State)
	assert.Empty(t, s.is(events.ConditionStalled))
}

func TestAmountsAsPeopleReadThem(t *testing.T) {
	for want, given := range map[string]struct {
		name   string
		amount int64
	}{
		"1 pod": {"pods", 1}, "2 pods": {"pods", 2}, "500m cpu": {"cpu", 500}, "1Gi memory": {"memory", 1 << 30},
	} {
		assert.Equal(t, want, amountOf(given.name, given.amount))
	}
}

// A job isn't told of a manager that has no jobs in the queue: its own manager takes the queue over. In a cohort only that manager
// knows whether another of the queues is in use, and then it requests this one.
func TestWhenAnotherManagersQueueIsAnObstacle(t *testing.T) {
	of := func(cohort string, change func(*v1alpha1.FluxSetupStatus)) *v1alpha1.FluxSetup {
		s := makeSetup("q", func(s *v1alpha1.FluxSetupSpec) { s.Cohort = cohort })
		s.Status.Manager = &v1alpha1.FluxSetupManager{Name: "ops/a", Namespaces: []string{"a"}}
		change(&s.Status)
		return s
	}
	idle := func(*v1alpha1.FluxSetupStatus) {}
	held := func(namespace string) func(*v1alpha1.FluxSetupStatus) {
		return func(s *v1alpha1.FluxSetupStatus) {
			s.Reservations = []v1alpha1.FluxReservation{{Namespace: namespace, Name: "x", UID: "x"}}
		}
	}
	waiting := func(s *v1alpha1.FluxSetupStatus) { s.Queue = []v1alpha1.FluxQueueEntry{{Namespace: "a", Name: "x"}} }
	request := func(s *v1alpha1.FluxSetupStatus) {
		s.Manager.Takeover = &v1alpha1.FluxSetupTakeover{By: "armature", Declined: true}
	}
	tests := map[string]struct {
		setup *v1alpha1.FluxSetup
		want  string
	}{
		"its jobs run":             {of("", held("a")), v1alpha1.ReasonQueueManagedElsewhere},
		"its jobs wait":            {of("", waiting), v1alpha1.ReasonQueueManagedElsewhere},
		"idle":                     {of("", idle), v1alpha1.ReasonQueued},
		"other jobs run":           {of("", held("default")), v1alpha1.ReasonQueued},
		"idle after a request":     {of("", request), v1alpha1.ReasonQueued},
		"idle in a cohort":         {of("lab", idle), v1alpha1.ReasonQueued},
		"requested for the cohort": {of("lab", request), v1alpha1.ReasonQueueManagedElsewhere},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := &fixture{t: t, job: makeJob("a", 1), setups: []client.Object{tt.setup}}
			told := s.step(10)
			assert.Equal(t, tt.want, meta.FindStatusCondition(s.job.Status.Conditions, v1alpha1.ConditionJobWaitingForResources).Reason)
			assert.Equal(t, tt.want == v1alpha1.ReasonQueueManagedElsewhere, len(told) > 0)
		})
	}
}

// What counts in the queue is told: in the status at any time, and in a condition and an event while it is less than was asked for.
func TestAPriorityOverTheLimitIsTold(t *testing.T) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default", Labels: map[string]string{"tier": "gold"}}}
	gold := func(most int32) func(*v1alpha1.FluxSetupSpec) {
		return func(s *v1alpha1.FluxSetupSpec) {
			s.Priority, s.PriorityLimits = 3, []v1alpha1.FluxPriorityLimit{{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}, Max: most}}
		}
	}
	seeing := func(setup *v1alpha1.FluxSetup) []client.Object { return []client.Object{setup, namespace} }
	s := &fixture{t: t, job: makeJob("a", 1), setups: seeing(makeSetup("q", gold(20)))}
	assert.Empty(t, s.step(10))
	assert.Equal(t, ptr.To[int32](3), s.job.Status.Priority, "the queue's")

	s.job.Spec.Priority = ptr.To[int32](20)
	assert.Empty(t, s.step(11))
	assert.Equal(t, ptr.To[int32](20), s.job.Status.Priority)

	s.job.Spec.Priority = ptr.To[int32](21)
	assert.Equal(t, []string{v1alpha1.ReasonPriorityLimited}, s.step(12))
	assert.Equal(t, ptr.To[int32](20), s.job.Status.Priority)
	assert.Equal(t, "True PriorityLimited", s.is(v1alpha1.ConditionPriorityLimited))
	assert.Equal(t, `spec.priority is 21, and FluxSetup "q" lets jobs of namespace "default" have at most 20, which counts instead`,
		s.message(v1alpha1.ConditionPriorityLimited))
	assert.Empty(t, s.step(13), "told once")

	s.setups = seeing(makeSetup("q", gold(1)))
	assert.Equal(t, []string{v1alpha1.ReasonPriorityLimited}, s.step(14), "another limit")
	s.setups = seeing(makeSetup("q", gold(21)))
	assert.Empty(t, s.step(15))
	assert.Empty(t, s.is(v1alpha1.ConditionPriorityLimited))
	s.job.Spec.Priority = nil
	s.setups = seeing(makeSetup("q", gold(1)))
	assert.Empty(t, s.step(16), "it has asked for nothing")
	assert.Equal(t, ptr.To[int32](1), s.job.Status.Priority)

	runs := running(t, priority(9))
	assert.Equal(t, ptr.To[int32](0), runs.job.Status.Priority, "of a job that runs, too: it can be pushed out")
	assert.Equal(t, "True PriorityLimited", runs.is(v1alpha1.ConditionPriorityLimited))
}
