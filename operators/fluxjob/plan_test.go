package fluxjob

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
)

func at(seconds int) metav1.Time {
	return metav1.NewTime(buildertest.Epoch.Add(time.Duration(seconds) * time.Second))
}

// stepper runs plans on a job, one after another, and keeps the status between them.
type stepper struct {
	t        *testing.T
	job      *v1alpha1.FluxJob
	children []client.Object // the MiniCluster and its Job
	setups   []client.Object // and the namespace
	plan     builder.Plan[*v1alpha1.FluxJob]
}

// step runs the plan at a time, and returns the reasons of its events.
func (s *stepper) step(second int) []string {
	s.t.Helper()
	before := s.job.DeepCopy()
	s.plan = Plan(s.job, builder.NewView(at(second).Time, s.children...).WithReferred(s.setups...))
	require.Equal(s.t, before, s.job, "the job was changed")
	if s.plan.Status != nil {
		s.job = s.job.DeepCopy()
		s.job.Status = *s.plan.Status.Status.DeepCopy()
		again := Plan(s.job, builder.NewView(at(second).Time, s.children...).WithReferred(s.setups...))
		if again.Status != nil && s.job.Status.Admission != nil && before.Status.Admission != nil {
			require.Equal(s.t, s.job.Status, again.Status.Status, "the plan says something new each time")
		}
	}
	return reasons(s.plan.Events)
}

func reasons(told []events.Event) []string {
	var all []string
	for _, e := range told {
		all = append(all, e.Reason)
	}
	return all
}

// is returns a condition's status and reason.
func (s *stepper) is(kind string) string {
	c := meta.FindStatusCondition(s.job.Status.Conditions, kind)
	if c == nil {
		return ""
	}
	return string(c.Status) + " " + c.Reason
}

func (s *stepper) message(kind string) string {
	if c := meta.FindStatusCondition(s.job.Status.Conditions, kind); c != nil {
		return c.Message
	}
	return ""
}

// offer returns the setup q with a reservation for the job's next run.
func offer(job *v1alpha1.FluxJob) *v1alpha1.FluxSetup {
	setup := makeSetup("q", clusters(1))
	setup.Status.Reservations = []v1alpha1.FluxReservation{{
		Namespace: job.Namespace, Name: job.Name, UID: job.UID, Run: job.Status.Runs + 1, Time: at(5), Generation: 1, Size: 2, Pods: 2,
	}}
	return setup
}

// clusterOf returns the MiniCluster of a job, with true conditions.
func clusterOf(job *v1alpha1.FluxJob, state v1alpha1.MiniClusterState, conditions ...string) *v1alpha1.MiniCluster {
	p := &step{situation: &situation{job: job}, status: job.Status.DeepCopy()}
	if p.status.Admission == nil {
		p.status.Admission = &v1alpha1.FluxAdmission{Queue: "q", Size: 2}
	}
	c := p.render()
	c.UID, c.Generation = "cluster-uid", 1
	c.Status.State, c.Status.ObservedGeneration = state, 1
	for _, kind := range conditions {
		meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: kind, LastTransitionTime: at(6)})
	}
	return c
}

func jobOf(active int32) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Status: batchv1.JobStatus{Active: active}}
}

// stopped returns a Job that is suspended, with pods that have yet to be gone.
func stopped(terminating int32) *batchv1.Job {
	job := jobOf(0)
	job.Spec.Suspend = ptr.To(true)
	job.Status.Terminating = &terminating
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobSuspended, Status: corev1.ConditionTrue}}
	return job
}

// admitted returns a stepper of the job a, which has accepted its share and waits for its MiniCluster.
func admitted(t *testing.T, change ...func(*v1alpha1.FluxJobSpec)) *stepper {
	job := makeJob("a", 1, change...)
	s := &stepper{t: t, job: job, setups: []client.Object{offer(job)}}
	require.Equal(t, []string{v1alpha1.ReasonAdmitted}, s.step(5))
	return s
}

// running returns a stepper of the job a, which runs.
func running(t *testing.T, change ...func(*v1alpha1.FluxJobSpec)) *stepper {
	s := admitted(t, change...)
	s.children = []client.Object{clusterOf(s.job, v1alpha1.MiniClusterStateRunning, v1alpha1.MiniClusterPodsReady, v1alpha1.MiniClusterRunning), jobOf(2)}
	require.Equal(t, []string{v1alpha1.ReasonRunning}, s.step(7))
	require.Equal(t, v1alpha1.FluxJobRunning, s.job.Status.State)
	return s
}

func TestWhyAJobWaits(t *testing.T) {
	selecting := func(s *v1alpha1.FluxSetupSpec) {
		s.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "hpc"}}
	}
	inLine := func(places ...v1alpha1.FluxLinePlace) *v1alpha1.FluxSetup {
		s := makeSetup("q", clusters(1))
		s.Status.Line = append([]v1alpha1.FluxLinePlace{{Namespace: "default", Name: "first"}}, places...)
		return s
	}
	place := func(reason, resource string) *v1alpha1.FluxSetup {
		return inLine(v1alpha1.FluxLinePlace{Namespace: "default", Name: "a", Reason: reason, Resource: resource})
	}
	small := makeSetup("q")
	small.Status.Usage = []v1alpha1.FluxResourceUsage{{Name: "pods", Largest: resource.MustParse("1")}}
	invalid := makeSetup("q")
	invalid.Status.Conditions = []metav1.Condition{{Type: builder.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonInvalidSpec}}
	stopped := makeSetup("q", func(s *v1alpha1.FluxSetupSpec) { s.StopPolicy = v1alpha1.StopHold })
	backingOff := makeJob("a", 1)
	backingOff.Status.RequeueTime = ptr.To(at(60))

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
			reason: v1alpha1.ReasonTooLarge, warned: true, message: `the size is 2, and FluxSetup "q" admits at most miniCluster.maxSize, 1`},
		"more than there is": {setup: small, reason: v1alpha1.ReasonTooLarge, warned: true,
			message: `it needs 2 pods, and FluxSetup "q" can give at most 1 to one job`},
		"a stopped queue": {setup: stopped, reason: v1alpha1.ReasonQueueStopped, message: `FluxSetup "q" has stopPolicy Hold`},
		"not yet seen":    {setup: makeSetup("q"), reason: v1alpha1.ReasonInLine, message: `it waits for its turn in queue "q"`},
		"short of something": {setup: place(v1alpha1.ReasonQuotaExceeded, "pods"), reason: v1alpha1.ReasonQuotaExceeded, position: ptr.To[int32](2),
			message: `it needs 2 pods, and queue "q" has less to give now`},
		"others are leaving": {setup: place(v1alpha1.ReasonMakingRoom, ""), reason: v1alpha1.ReasonMakingRoom, position: ptr.To[int32](2),
			message: `queue "q" has room as soon as those are gone who are leaving`},
		"behind others": {setup: place(v1alpha1.ReasonBehindOthers, ""), reason: v1alpha1.ReasonBehindOthers, position: ptr.To[int32](2),
			message: `queue "q" is StrictFIFO, and a job before this one has to wait`},
		"after a timeout": {job: backingOff, setup: place(v1alpha1.ReasonBackoff, ""), reason: v1alpha1.ReasonBackoff, position: ptr.To[int32](2),
			message: `the pods weren't ready in time; it lines up again at 2026-01-01T00:01:00Z`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.job == nil {
				tt.job = makeJob("a", 1)
			}
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default", Labels: map[string]string{"team": "web"}}}
			s := &stepper{t: t, job: tt.job, setups: []client.Object{tt.setup, namespace}}
			told := s.step(10)
			assert.Equal(t, tt.warned, len(told) > 0, "an event for what someone must do something about")
			assert.Equal(t, v1alpha1.FluxJobWaiting, s.job.Status.State)
			assert.Equal(t, "q", s.job.Status.Queue)
			assert.Equal(t, int32(2), s.job.Status.Size)
			assert.Equal(t, "True Requested", s.is(v1alpha1.ConditionJobRequested))
			assert.Equal(t, "True "+tt.reason, s.is(v1alpha1.ConditionJobWaitingForResources))
			assert.Equal(t, "False "+tt.reason, s.is(builder.ConditionReady))
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
	setup.Status.Line = make([]v1alpha1.FluxLinePlace, v1alpha1.MaxFluxLine)
	setup.Status.Pending = 700
	for _, n := range []int32{200, 500} {
		setup.Status.Marks = append(setup.Status.Marks, v1alpha1.FluxLineMark{Position: n, Since: at(int(n)), Name: "mark", Namespace: "default"})
	}
	for second, want := range map[int]struct {
		position int32
		again    time.Duration
	}{150: {200, farDelay}, 200: {200, farDelay}, 201: {500, farDelay}, 600: {1000, farDelay}} {
		s := &stepper{t: t, job: makeJob("a", second), setups: []client.Object{setup}}
		s.step(1000)
		require.NotNil(t, s.job.Status.Position)
		assert.Equal(t, want.position, *s.job.Status.Position)
		assert.Equal(t, want.again, s.plan.RequeueAfter)
	}
	s := &stepper{t: t, job: makeJob("a", 150, priority(-1)), setups: []client.Object{setup}}
	setup.Status.Pending = 1700
	s.step(1000)
	assert.Equal(t, ptr.To[int32](2000), s.job.Status.Position)
	assert.Equal(t, farthestDelay, s.plan.RequeueAfter)
	setup.Status.Pending = 900
	s.step(1001)
	assert.Equal(t, ptr.To[int32](1000), s.job.Status.Position)
	assert.Equal(t, placeDelay, s.plan.StatusCanWait, "a place far behind is written when there is time")
}

func TestAFirstRun(t *testing.T) {
	job := makeJob("a", 1)
	s := &stepper{t: t, job: job, setups: []client.Object{offer(job)}}
	assert.Equal(t, []string{v1alpha1.ReasonAdmitted}, s.step(5))
	assert.Empty(t, s.plan.Children, "nothing is made before the acceptance is written")
	assert.Equal(t, soon, s.plan.RequeueAfter)
	assert.Equal(t, int32(1), s.job.Status.Runs)
	assert.Equal(t, &v1alpha1.FluxAdmission{Queue: "q", Time: at(5), Generation: 1, Size: 2, Pods: 2}, s.job.Status.Admission)
	assert.Equal(t, v1alpha1.FluxJobStarting, s.job.Status.State)
	assert.Equal(t, "False Admitted", s.is(v1alpha1.ConditionJobWaitingForResources))
	assert.Equal(t, ptr.To(at(5)), s.job.Status.StartTime)

	assert.Empty(t, s.step(6))
	require.Len(t, s.plan.Children, 1)
	cluster := s.plan.Children[0].Object().(*v1alpha1.MiniCluster)
	assert.Equal(t, "a", cluster.Name)
	assert.Equal(t, map[string]string{admission.LabelQueue: "q"}, cluster.Labels)
	assert.Equal(t, []string{metav1.FinalizerDeleteDependents}, cluster.Finalizers)
	assert.Equal(t, v1alpha1.MiniClusterSpec{
		Size: 2, Containers: []v1alpha1.MiniClusterContainer{{Image: "busybox:1.28", Command: "true"}},
	}, cluster.Spec)

	s.children = []client.Object{clusterOf(s.job, v1alpha1.MiniClusterStateStarting), jobOf(2)}
	assert.Empty(t, s.step(7))
	assert.Empty(t, s.plan.Children, "one that exists is left as it is")
	assert.Equal(t, "a", s.job.Status.MiniCluster)

	s.children[0] = clusterOf(s.job, v1alpha1.MiniClusterStateStarting, v1alpha1.MiniClusterPodsReady)
	assert.Empty(t, s.step(8))
	assert.Equal(t, v1alpha1.FluxJobReady, s.job.Status.State)
	assert.Equal(t, "True PodsReady", s.is(v1alpha1.ConditionJobMiniClusterReady))
	assert.Equal(t, ptr.To(at(8)), s.job.Status.Admission.ReadyTime)

	s.children[0] = clusterOf(s.job, v1alpha1.MiniClusterStateRunning, v1alpha1.MiniClusterPodsReady, v1alpha1.MiniClusterRunning)
	assert.Equal(t, []string{v1alpha1.ReasonRunning}, s.step(9))
	assert.Equal(t, v1alpha1.FluxJobRunning, s.job.Status.State)
	assert.Equal(t, "True Running", s.is(v1alpha1.ConditionJobRunning))

	over := clusterOf(s.job, v1alpha1.MiniClusterStateSucceeded, v1alpha1.ConditionSucceeded)
	over.Status.ExitCode, over.Status.CompletionTime = ptr.To[int32](0), ptr.To(at(10))
	s.children[0] = over
	assert.Equal(t, []string{v1alpha1.ReasonSucceeded}, s.step(11))
	assert.Equal(t, v1alpha1.FluxJobSucceeded, s.job.Status.State)
	assert.Equal(t, ptr.To[int32](0), s.job.Status.ExitCode)
	assert.Equal(t, ptr.To(at(10)), s.job.Status.CompletionTime)
	assert.Equal(t, "True Succeeded", s.is(v1alpha1.ConditionJobFinished))
	assert.Equal(t, "True Succeeded", s.is(v1alpha1.ConditionSucceeded))
	assert.Equal(t, "True Succeeded", s.is(builder.ConditionReady))
	assert.Equal(t, "False Finished", s.is(v1alpha1.ConditionJobRunning))
	assert.NotNil(t, s.job.Status.Admission, "a worker has yet to stop")

	s.children[1] = stopped(0)
	assert.Empty(t, s.step(12))
	assert.Nil(t, s.job.Status.Admission)
	assert.Empty(t, s.step(13))
	assert.Zero(t, s.plan)
}

func TestFailures(t *testing.T) {
	s := running(t)
	over := clusterOf(s.job, v1alpha1.MiniClusterStateFailed)
	over.Status.ExitCode, over.Status.Restarts = ptr.To[int32](3), 2
	over.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFailed, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonLeaderFailed, Message: "the leader failed"}}
	s.children = []client.Object{over, stopped(0)}
	assert.Equal(t, []string{v1alpha1.ReasonLeaderFailed}, s.step(10))
	assert.Equal(t, v1alpha1.FluxJobFailed, s.job.Status.State)
	assert.Equal(t, ptr.To[int32](3), s.job.Status.ExitCode)
	assert.Equal(t, int32(2), s.job.Status.Restarts)
	assert.Equal(t, "exit code 3: the leader failed", s.message(v1alpha1.ConditionJobFinished))
	for _, kind := range []string{v1alpha1.ConditionJobFinished, v1alpha1.ConditionFailed, builder.ConditionStalled} {
		assert.Equal(t, "True LeaderFailed", s.is(kind))
	}
	assert.Equal(t, "False LeaderFailed", s.is(builder.ConditionReady))
	assert.Nil(t, s.job.Status.Admission)

	s = admitted(t)
	refused := clusterOf(s.job, v1alpha1.MiniClusterStatePending)
	refused.Status.Conditions = []metav1.Condition{{
		Type: builder.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonInvalidSpec, Message: "no", ObservedGeneration: 1}}
	s.children = []client.Object{refused}
	assert.Equal(t, []string{v1alpha1.ReasonInvalidSpec}, s.step(10))
	assert.Equal(t, "the MiniCluster is refused: no", s.message(v1alpha1.ConditionFailed))
	s.step(11)
	require.Len(t, s.plan.Edits, 1, "it is suspended, to be sure")
	assert.NotNil(t, s.job.Status.Admission)
	refused.Spec.Suspend = true
	s.step(12)
	assert.Nil(t, s.job.Status.Admission)
}

// A MiniCluster that can never be made must not hold its share for ever, and one that could be must say what is in the way.
func TestAMiniClusterThatIsNotMade(t *testing.T) {
	s := admitted(t)
	cluster := clusterOf(s.job, v1alpha1.MiniClusterStateStarting)
	ready := metav1.Condition{Type: builder.ConditionReady, Status: metav1.ConditionFalse, Reason: events.ReasonNotOwned, Message: "someone else's"}
	cluster.Status.Conditions = []metav1.Condition{ready}
	s.children = []client.Object{cluster}
	assert.Equal(t, []string{events.ReasonNotOwned}, s.step(6))
	assert.Equal(t, v1alpha1.FluxJobStarting, s.job.Status.State)
	assert.Contains(t, s.message(builder.ConditionReady), "someone else's")

	stalled := metav1.Condition{
		Type: builder.ConditionStalled, Status: metav1.ConditionTrue, Reason: events.ReasonApplyFailed, Message: "no such thing", ObservedGeneration: 1}
	cluster.Status.Conditions = []metav1.Condition{stalled}
	s.children = []client.Object{cluster, jobOf(2)}
	s.step(7)
	assert.Nil(t, s.job.Status.CompletionTime, "it runs, whatever else can't be made")

	s.children = []client.Object{cluster}
	assert.Equal(t, []string{v1alpha1.ReasonInvalidSpec}, s.step(8))
	assert.Equal(t, v1alpha1.FluxJobFailed, s.job.Status.State)
	assert.Equal(t, "the MiniCluster is refused: no such thing", s.message(v1alpha1.ConditionFailed))
	cluster.Spec.Suspend = true
	s.step(9)
	assert.Nil(t, s.job.Status.Admission)
}

// What a pass that goes wrong reports in Ready, the builder takes back later.
func TestTheEndIsSaidAgainAfterAnError(t *testing.T) {
	for want, failed := range map[string]bool{"True Succeeded": false, "False LeaderFailed": true} {
		s := running(t)
		over := clusterOf(s.job, v1alpha1.MiniClusterStateSucceeded, v1alpha1.ConditionSucceeded)
		if failed {
			over.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFailed, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonLeaderFailed}}
		}
		s.children = []client.Object{over, stopped(0)}
		s.step(10)
		meta.RemoveStatusCondition(&s.job.Status.Conditions, builder.ConditionReady)
		meta.RemoveStatusCondition(&s.job.Status.Conditions, builder.ConditionStalled)
		s.step(11)
		assert.Equal(t, want, s.is(builder.ConditionReady))
		assert.Equal(t, failed, s.is(builder.ConditionStalled) == "True LeaderFailed")
	}
}

func TestAnInvalidJob(t *testing.T) {
	job := makeJob("a", 1, func(s *v1alpha1.FluxJobSpec) {
		s.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("-1")}}
	})
	s := &stepper{t: t, job: job, setups: []client.Object{offer(job)}}
	assert.Equal(t, []string{v1alpha1.ReasonInvalidSpec}, s.step(5))
	assert.Equal(t, v1alpha1.FluxJobRequested, s.job.Status.State)
	assert.Equal(t, "False InvalidSpec", s.is(v1alpha1.ConditionJobRequested))
	assert.Equal(t, "True InvalidSpec", s.is(builder.ConditionStalled))
	assert.Contains(t, s.message(builder.ConditionReady), `spec.resources.requests[cpu]: Invalid value: "-1"`)
	assert.Equal(t, int32(1), s.job.Status.Runs, "what was reserved is declined")
	assert.Nil(t, s.job.Status.Admission)
	assert.Empty(t, s.step(6))

	s.job.Spec.Resources, s.job.Generation = nil, 2
	assert.Empty(t, s.step(7))
	assert.Equal(t, v1alpha1.FluxJobWaiting, s.job.Status.State)
	assert.Empty(t, s.is(builder.ConditionStalled))
}

func TestAReservationOfWhatIsNoLongerNeededIsDeclined(t *testing.T) {
	job := makeJob("a", 1)
	setup := offer(job)
	job.Generation = 2
	s := &stepper{t: t, job: job, setups: []client.Object{setup}}
	s.step(5)
	assert.NotNil(t, s.job.Status.Admission, "a change that needs the same")

	job = makeJob("a", 1, func(s *v1alpha1.FluxJobSpec) { s.Size = ptr.To[int32](3) })
	job.Generation = 2
	s = &stepper{t: t, job: job, setups: []client.Object{setup}}
	s.step(5)
	assert.Nil(t, s.job.Status.Admission)
	assert.Equal(t, int32(1), s.job.Status.Runs)
	assert.Equal(t, v1alpha1.ReasonSpecChanged, s.job.Status.LastEviction.Reason)

	s = admitted(t)
	s.job.Spec.Size, s.job.Generation = ptr.To[int32](3), 2
	assert.Equal(t, []string{v1alpha1.ReasonSpecChanged, v1alpha1.ReasonRequeued}, append([]string{v1alpha1.ReasonSpecChanged}, s.step(6)...),
		"before the MiniCluster is made")
	assert.Empty(t, s.plan.Children)
	assert.Nil(t, s.job.Status.Admission)
}

func TestAJobThatMovesToAnotherQueue(t *testing.T) {
	job := makeJob("a", 1)
	s := &stepper{t: t, job: job, setups: []client.Object{makeSetup("q")}}
	s.step(5)
	s.job.Spec.Queue, s.job.Generation = "p", 2
	reserved := offer(s.job) // so soon
	reserved.Name = "p"
	s.setups = []client.Object{reserved}
	s.step(6)
	assert.Equal(t, "p", s.job.Status.Queue)
	assert.Nil(t, s.job.Status.Admission)
	assert.Equal(t, int32(1), s.job.Status.Runs, "what q may have reserved is declined")
	s.step(7)
	assert.Nil(t, s.job.Status.Admission)
	reserved = offer(s.job)
	reserved.Name = "p"
	s.setups = []client.Object{reserved}
	s.step(8)
	assert.Equal(t, "p", s.job.Status.Admission.Queue)
}

func TestAPreemption(t *testing.T) {
	s := running(t)
	setup := offer(makeJob("a", 1))
	setup.Status.Reservations[0].Evicted = &v1alpha1.FluxEviction{Reason: v1alpha1.ReasonPreempted, Message: "someone needs the room", Time: at(20)}
	s.setups = []client.Object{setup}
	assert.Equal(t, []string{v1alpha1.ReasonPreempted}, s.step(20))
	assert.Equal(t, v1alpha1.FluxJobStopping, s.job.Status.State)
	assert.NotNil(t, s.job.Status.Admission)
	require.Len(t, s.plan.Edits, 1)
	cluster := s.plan.Edits[0].After.(*v1alpha1.MiniCluster)
	assert.True(t, cluster.Spec.Suspend)

	cluster.Generation = 2
	s.children = []client.Object{cluster, jobOf(2)}
	s.step(21)
	assert.Empty(t, s.plan.Edits)
	assert.NotNil(t, s.job.Status.Admission, "its operator has yet to see it")
	cluster.Status.ObservedGeneration = 2
	s.step(22)
	assert.NotNil(t, s.job.Status.Admission, "its pods run")
	s.children[1] = stopped(1)
	s.step(23)
	assert.NotNil(t, s.job.Status.Admission, "a pod has yet to stop")
	s.children[1] = stopped(0)
	assert.Equal(t, []string{v1alpha1.ReasonRequeued}, s.step(24))
	assert.Nil(t, s.job.Status.Admission)
	assert.Equal(t, v1alpha1.FluxJobWaiting, s.job.Status.State)
	assert.Equal(t, v1alpha1.ReasonPreempted, s.job.Status.LastEviction.Reason)
	assert.Nil(t, s.job.Status.RequeueTime, "it lines up where it was")

	s.setups = []client.Object{offer(s.job)}
	assert.Equal(t, []string{v1alpha1.ReasonAdmitted}, s.step(30))
	assert.Empty(t, s.plan.Edits)
	s.step(31)
	require.Len(t, s.plan.Edits, 1)
	assert.False(t, s.plan.Edits[0].After.(*v1alpha1.MiniCluster).Spec.Suspend)

	s.job.Spec.Command, s.job.Generation = "false", 2
	s.step(32)
	assert.Empty(t, s.plan.Edits)
	assert.Equal(t, []client.Object{cluster}, s.plan.Delete, "what is wanted now is another MiniCluster")
}

func TestPodsThatAreNotReadyInTime(t *testing.T) {
	readiness := func(s *v1alpha1.FluxSetupSpec) {
		s.Readiness = &v1alpha1.FluxReadiness{TimeoutSeconds: 10, BackoffSeconds: 60, BackoffMaxSeconds: 100, RequeueLimit: ptr.To[int32](2)}
	}
	s := admitted(t)
	for n, wait := range []int{60, 100} {
		setup := makeSetup("q", readiness)
		setup.Status.Reservations = offer(makeJob("a", 1)).Status.Reservations
		setup.Status.Reservations[0].Run = s.job.Status.Runs
		setup.Status.Reservations[0].Evicted = &v1alpha1.FluxEviction{Reason: v1alpha1.ReasonNotReady, Message: "too slow", Time: at(20)}
		s.setups = []client.Object{setup}
		s.step(20)
		assert.Nil(t, s.job.Status.Admission)
		assert.Equal(t, int32(n+1), s.job.Status.Requeues)
		assert.Equal(t, ptr.To(at(20+wait)), s.job.Status.RequeueTime)
		s.setups = []client.Object{offer(s.job)}
		s.step(200)
		assert.NotNil(t, s.job.Status.Admission)
		assert.Nil(t, s.job.Status.RequeueTime)
	}
	setup := makeSetup("q", readiness)
	setup.Status.Reservations = s.setups[0].(*v1alpha1.FluxSetup).Status.Reservations
	setup.Status.Reservations[0].Evicted = &v1alpha1.FluxEviction{Reason: v1alpha1.ReasonNotReady, Message: "too slow", Time: at(20)}
	s.setups = []client.Object{setup}
	s.step(300)
	assert.Equal(t, v1alpha1.FluxJobFailed, s.job.Status.State)
	assert.Equal(t, "True NotReady", s.is(v1alpha1.ConditionFailed))

	ready := running(t)
	ready.job.Status.Requeues = 2
	ready.step(8)
	assert.Zero(t, ready.job.Status.Requeues, "it was ready")
}

func TestSuspension(t *testing.T) {
	s := running(t)
	s.job.Spec.Suspend, s.job.Generation = true, 2
	assert.Equal(t, []string{v1alpha1.ReasonSuspended}, s.step(10))
	require.Len(t, s.plan.Edits, 1)
	cluster := s.plan.Edits[0].After.(*v1alpha1.MiniCluster)
	cluster.Generation, cluster.Status.ObservedGeneration = 2, 2
	s.children = []client.Object{cluster, stopped(0)}
	s.step(11)
	assert.Nil(t, s.job.Status.Admission)
	s.step(12)
	assert.Equal(t, v1alpha1.FluxJobSuspended, s.job.Status.State)
	assert.Nil(t, s.job.Status.Position)
	assert.Equal(t, "False Suspended", s.is(v1alpha1.ConditionJobWaitingForResources))

	cluster.Spec.Suspend = false
	s.step(13)
	require.Len(t, s.plan.Edits, 1, "someone resumed the MiniCluster by hand")
	assert.True(t, s.plan.Edits[0].After.(*v1alpha1.MiniCluster).Spec.Suspend)

	cluster.Spec.Suspend = true
	s.job.Spec.Suspend, s.job.Generation = false, 3
	s.setups = []client.Object{makeSetup("q")}
	s.step(14)
	assert.Equal(t, v1alpha1.FluxJobWaiting, s.job.Status.State)
}

func TestAQueueThatIsGoneKillsNothing(t *testing.T) {
	s := running(t)
	s.setups = nil
	assert.Empty(t, s.step(10))
	assert.Equal(t, v1alpha1.FluxJobRunning, s.job.Status.State)
	s.setups = []client.Object{makeSetup("q", clusters(0))} // made again, with an empty book
	assert.Empty(t, s.step(11))
	assert.Equal(t, v1alpha1.FluxJobRunning, s.job.Status.State)
	assert.Empty(t, s.plan.Edits)
}

func TestAChangeOfTheSpecOfAJobThatRuns(t *testing.T) {
	s := running(t)
	s.job.Spec.Command, s.job.Generation = "false", 2
	assert.Equal(t, []string{v1alpha1.ReasonChangeIgnored}, s.step(10))
	assert.Empty(t, s.step(11))
	s.job.Spec.Priority, s.job.Generation = ptr.To[int32](3), 3
	s.job.Spec.Command = "true"
	assert.Empty(t, s.step(12))
	assert.Empty(t, s.plan.Edits)
}

func TestWhatHappensAfterTheEnd(t *testing.T) {
	s := running(t, func(s *v1alpha1.FluxJobSpec) {
		s.TTLSecondsAfterFinished, s.CleanupPolicy = ptr.To[int32](30), v1alpha1.CleanupMiniCluster
	})
	over := clusterOf(s.job, v1alpha1.MiniClusterStateSucceeded, v1alpha1.ConditionSucceeded)
	over.Status.CompletionTime = ptr.To(at(10))
	s.children = []client.Object{over, stopped(0)}
	s.step(11)
	assert.Empty(t, s.plan.Delete, "first the end is written")
	assert.Equal(t, soon, s.plan.RequeueAfter)
	s.step(12)
	assert.Equal(t, []client.Object{over}, s.plan.Delete)
	assert.Equal(t, 28*time.Second, s.plan.RequeueAfter)
	assert.False(t, s.plan.DeleteOwner)
	s.children = nil
	s.job.Generation = 2
	assert.Equal(t, []string{v1alpha1.ReasonChangeIgnored}, s.step(13))
	s.step(40)
	assert.True(t, s.plan.DeleteOwner)
	assert.Empty(t, s.plan.Children)
}

func TestKueueIsTheQueue(t *testing.T) {
	job := makeJob("a", 1, func(s *v1alpha1.FluxJobSpec) { s.Queue = "" })
	job.Labels = map[string]string{v1alpha1.LabelKueueQueue: "team", v1alpha1.LabelKueuePriority: "high", "other": "label"}
	s := &stepper{t: t, job: job}
	assert.Empty(t, s.step(5))
	assert.Equal(t, "team", s.job.Status.Queue)
	assert.Nil(t, s.job.Status.StartTime)
	require.NotNil(t, s.job.Status.Admission)
	assert.Empty(t, s.job.Status.Admission.Queue)
	s.step(6)
	require.Len(t, s.plan.Children, 1)
	assert.Equal(t, map[string]string{v1alpha1.LabelKueueQueue: "team", v1alpha1.LabelKueuePriority: "high"}, s.plan.Children[0].Object().GetLabels())

	cluster := clusterOf(s.job, v1alpha1.MiniClusterStatePending)
	cluster.Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.MiniClusterAdmitted, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonQueued, Message: "the Job waits for Kueue"}}
	s.children = []client.Object{cluster}
	s.step(7)
	assert.Equal(t, v1alpha1.FluxJobWaiting, s.job.Status.State)
	assert.Equal(t, "True Queued", s.is(v1alpha1.ConditionJobWaitingForResources))
}

func TestAJobThatIsBeingDeleted(t *testing.T) {
	s := running(t)
	s.job.DeletionTimestamp = ptr.To(at(9))
	s.step(10)
	assert.Equal(t, v1alpha1.FluxJobTerminating, s.job.Status.State)
	assert.Empty(t, s.plan.Children)
}

func TestTheMiniClusterOfATemplate(t *testing.T) {
	template := &v1alpha1.MiniClusterSpec{
		Size: 1, MaxSize: 4, Containers: []v1alpha1.MiniClusterContainer{{Image: "i", Command: "c"}},
		Flux: v1alpha1.MiniClusterFlux{Disable: true},
	}
	s := admitted(t, func(s *v1alpha1.FluxJobSpec) {
		s.Image, s.Command, s.MiniCluster = "", "", template
		s.DeadlineSeconds, s.BackoffLimit = ptr.To[int64](60), ptr.To[int32](3)
	})
	s.step(6)
	require.Len(t, s.plan.Children, 1)
	want := *template.DeepCopy()
	want.Size, want.DeadlineSeconds, want.BackoffLimit = 2, ptr.To[int64](60), ptr.To[int32](3)
	assert.Equal(t, want, s.plan.Children[0].Object().(*v1alpha1.MiniCluster).Spec)
	assert.Equal(t, int32(1), template.Size, "the template is shared")
}
