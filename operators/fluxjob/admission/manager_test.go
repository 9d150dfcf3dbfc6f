package admission

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

// Managers of one namespace each.
var (
	ofA = Manager{Name: "ops/a", Namespaces: []string{"a"}}
	ofB = Manager{Name: "ops/b", Namespaces: []string{"b"}}
)

func in(namespace string) func(*v1alpha1.FluxJob) {
	return func(j *v1alpha1.FluxJob) { j.Namespace = namespace }
}

func managedBy(m Manager) func(*v1alpha1.FluxSetup) {
	return func(s *v1alpha1.FluxSetup) { s.Status.Manager = m.record() }
}

func unmanaged(s *v1alpha1.FluxSetup) { s.Status.Manager = nil }

func inLine(names ...string) func(*v1alpha1.FluxSetup) {
	return func(s *v1alpha1.FluxSetup) {
		for _, name := range names {
			s.Status.Queue = append(s.Status.Queue, v1alpha1.FluxQueueEntry{Namespace: "a", Name: name, Reason: v1alpha1.ReasonWaitingForQuota})
		}
	}
}

func requestedBy(name string, second int, declined bool) func(*v1alpha1.FluxSetup) {
	return func(s *v1alpha1.FluxSetup) {
		s.Status.Manager.Takeover = &v1alpha1.FluxSetupTakeover{By: name, Time: at(second), Declined: declined}
	}
}

// pass runs a manager's plan, in which the namespaces a and b exist, and returns the setup after it.
func (m Manager) pass(setup *v1alpha1.FluxSetup, second int, others ...client.Object) (*v1alpha1.FluxSetup, builder.Plan[*v1alpha1.FluxSetup]) {
	for _, name := range []string{"a", "b"} {
		others = append(others, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	p := m.Plan(setup, buildertest.WithWatched(buildertest.NewView(at(second).Time), append(others, setup)...))
	if p.Status == nil {
		return setup, p
	}
	after := setup.DeepCopy()
	after.Status = *p.Status.Status.DeepCopy()
	return after, p
}

func TestNothingIsGivenInThePassThatTakesAQueue(t *testing.T) {
	got, p := ofA.pass(makeSetup("q", clusters(1), unmanaged), 1, makeJob("x", 1, in("a")))
	assert.Equal(t, ofA.record(), got.Status.Manager)
	assert.Empty(t, held(got))
	assert.Equal(t, []string{"x: Queued"}, waiting(got), "it is in use from now on")
	assert.Zero(t, p.StatusCanWait)
	got, _ = ofA.pass(got, 2, makeJob("x", 1, in("a")))
	assert.Equal(t, []string{"x"}, held(got))
}

func TestAnotherManagerRefusesTheQueue(t *testing.T) {
	holds, waits := makeJob("holds", 1, in("a"), holding), makeJob("waits", 2, in("b"))
	setup := makeSetup("q", clusters(2), managedBy(ofA), withReservations(holds))
	got, p := ofB.pass(setup, 10, waits)
	assert.Equal(t, []string{"holds"}, held(got), "what it doesn't see stays")
	assert.Empty(t, got.Status.Queue)
	assert.Equal(t, &v1alpha1.FluxSetupTakeover{By: "ops/b", Time: at(10)}, got.Status.Manager.Takeover)
	assert.Equal(t, 5*time.Minute, p.RequeueAfter)
	assert.Empty(t, p.Events)

	_, p = ofB.pass(got, 11, waits)
	assert.Nil(t, p.Status, "it says nothing more")
	assert.Equal(t, 299*time.Second, p.RequeueAfter)

	declined, _ := ofA.pass(got, 12, holds)
	assert.True(t, declined.Status.Manager.Takeover.Declined)
	for _, second := range []int{13, 600, 609} {
		_, p = ofB.pass(declined, second, waits)
		assert.Nil(t, p.Status)
		assert.Equal(t, time.Duration(610-second)*time.Second, p.RequeueAfter)
	}
	again, _ := ofB.pass(declined, 610, waits)
	assert.Equal(t, &v1alpha1.FluxSetupTakeover{By: "ops/b", Time: at(610)}, again.Status.Manager.Takeover)
}

func TestWithoutJobsNoOneRequestsAQueue(t *testing.T) {
	setup := makeSetup("q", clusters(2), managedBy(ofA), withReservations(makeJob("holds", 1, in("a"), holding)))
	_, p := ofB.pass(setup, 10)
	assert.Nil(t, p.Status)
	assert.Zero(t, p.RequeueAfter)
	_, p = ofB.pass(setup, 10, makeJob("suspended", 2, in("b"), func(j *v1alpha1.FluxJob) { j.Spec.Suspend = true }))
	assert.Nil(t, p.Status)
}

func TestWhenAQueueIsTakenOver(t *testing.T) {
	holds := makeJob("holds", 1, in("a"), holding)
	tests := map[string]struct {
		setup *v1alpha1.FluxSetup
		taken bool
	}{
		"in use":                {makeSetup("q", managedBy(ofA), withReservations(holds)), false},
		"jobs wait":             {makeSetup("q", managedBy(ofA), inLine("x")), false},
		"idle":                  {makeSetup("q", managedBy(ofA)), true},
		"only its own jobs":     {makeSetup("q", managedBy(ofA), withReservations(makeJob("runs", 1, in("b"), holding))), true},
		"an uninstalled one's":  {makeSetup("q", managedBy(ofA), withReservations(makeJob("lost", 1, in("c"), holding))), true},
		"own jobs, others wait": {makeSetup("q", managedBy(ofA), withReservations(makeJob("runs", 1, in("b"), holding)), inLine("x")), false},
		"declined":              {makeSetup("q", managedBy(ofA), withReservations(holds), requestedBy("ops/b", -900, true)), false},
		"not declined so far":   {makeSetup("q", managedBy(ofA), withReservations(holds), requestedBy("ops/b", -299, false)), false},
		"not declined in time":  {makeSetup("q", managedBy(ofA), withReservations(holds), requestedBy("ops/b", -300, false)), true},
		"requested by another":  {makeSetup("q", managedBy(ofA), withReservations(holds), requestedBy("ops/c", -900, false)), false},
		"given by its name":     {makeSetup("q", managedBy(Manager{Name: "ops/b"}), withReservations(holds)), true},
		"labelled anew": {makeSetup("q", managedBy(Manager{Name: "ops/a", Selector: "shard=a"}), withReservations(holds),
			func(s *v1alpha1.FluxSetup) { s.Labels = map[string]string{"shard": "b"} }), true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			setup := tt.setup.DeepCopy()
			seen := []client.Object{makeJob("waits", 2, in("b"))}
			if slices.Contains(held(setup), "runs") {
				seen = append(seen, makeJob("runs", 1, in("b"), holding))
			}
			got, _ := ofB.pass(setup, 0, seen...)
			assert.Equal(t, tt.taken, got.Status.Manager.Name == "ops/b")
			if tt.taken {
				assert.Equal(t, ofB.record(), got.Status.Manager)
			}
			assert.Equal(t, held(setup), held(got)[:len(held(setup))], "what the other manager has given is kept")
		})
	}
	_, p := ofB.pass(makeSetup("q", managedBy(ofA)), 0, makeJob("waits", 2, in("b")))
	require.NotEmpty(t, p.Events)
	assert.Equal(t, v1alpha1.ReasonTakenOver, p.Events[0].Reason)
	assert.Equal(t, "manager ops/b, which watches namespace b, took the queue over from ops/a, which had no jobs in it", p.Events[0].Note)
}

// Each manager says of the jobs that only it sees whether they hold a reservation, whoever has the queue.
func TestReservationsOfJobsThatTheManagerOfTheQueueDoesNotSee(t *testing.T) {
	a, b := makeJob("a-job", 1, in("a"), holding), makeJob("b-job", 2, in("b"), holding)
	ended := makeJob("b-job", 2, in("b"), func(j *v1alpha1.FluxJob) { j.Status.Attempts, j.Status.CompletionTime = 1, new(at(5)) })
	tests := map[string]struct {
		by   Manager
		book []*v1alpha1.FluxJob
		seen []client.Object
		held []string
	}{
		"its manager keeps it":                  {ofA, []*v1alpha1.FluxJob{a, b}, []client.Object{a}, []string{"a-job", "b-job"}},
		"the other one gives it back":           {ofB, []*v1alpha1.FluxJob{a, b}, []client.Object{ended}, []string{"a-job"}},
		"the other one enters what isn't there": {ofB, []*v1alpha1.FluxJob{a}, []client.Object{b}, []string{"a-job", "b-job"}},
		"its manager enters its own":            {ofA, []*v1alpha1.FluxJob{b}, []client.Object{a}, []string{"b-job", "a-job"}},
		"the other one is gone from its view":   {ofB, []*v1alpha1.FluxJob{a, b}, nil, []string{"a-job"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, _ := tt.by.pass(makeSetup("q", clusters(2), managedBy(ofA), withReservations(tt.book...)), 30, tt.seen...)
			assert.Equal(t, tt.held, held(got))
			assert.Equal(t, int32(len(tt.held)), got.Status.AdmittedWorkloads)
			again, p := tt.by.pass(got, 30, tt.seen...)
			assert.Equal(t, held(got), held(again))
			assert.Nil(t, p.Status, "once is enough")
		})
	}

	setup := makeSetup("q", clusters(1), preempting, upTo(1000), managedBy(ofA), withReservations(b))
	got, _ := ofA.pass(setup, 10, makeJob("urgent", 3, in("a"), ofPriority(1000)))
	assert.Equal(t, []string{"b-job"}, held(got), "no one pushes out what isn't known")
	assert.Equal(t, []string{"urgent: WaitingForQuota miniClusters"}, waiting(got))

	both := Manager{Name: "ops/both", Namespaces: []string{"a", "b"}}
	_, p := ofB.pass(makeSetup("q", clusters(1), managedBy(both), withReservations(a)), 10, b)
	assert.Nil(t, p.Status, "of what the manager of the queue sees, it alone says what holds")
}

func TestAReservationGoesWithItsNamespace(t *testing.T) {
	lost := makeJob("lost", 0, in("gone"), holding)
	setup := makeSetup("q", clusters(1), managedBy(ofA), withReservations(lost))
	waits := makeJob("waits", 1, in("a"))
	got, _ := ofA.pass(setup, 30, waits)
	assert.Equal(t, []string{"lost"}, held(got), "the namespace may only not be known yet")
	got, _ = ofA.pass(setup, 61, waits)
	assert.Equal(t, []string{"waits"}, held(got))
	got, _ = ofB.pass(setup, 61)
	assert.Equal(t, []string{"lost"}, held(got), "that is for the manager of the queue to say")
}

func TestACohortHasOneManager(t *testing.T) {
	lab := inCohort("lab")
	waits := makeJob("waits", 1, in("b"), inQueue("z"))
	busy := makeSetup("m", clusters(1), lab, managedBy(ofA), inLine("x"))
	got, _ := ofB.pass(makeSetup("z", clusters(1), lab, unmanaged), 1, waits, busy)
	assert.Equal(t, "ops/a", got.Status.Manager.Name, "the cohort is another one's")
	got, _ = ofB.pass(makeSetup("a", clusters(1), lab, unmanaged), 1, waits, busy)
	assert.Nil(t, got.Status.Manager, "and a new name that comes first changes nothing")

	mine := makeSetup("z", clusters(1), lab, managedBy(ofB))
	got, _ = ofB.pass(mine, 1, waits, busy)
	assert.Empty(t, held(got), "nothing is given as long as the cohort has two")
	got, p := ofA.pass(mine, 1, busy)
	assert.Equal(t, ofA.record(), got.Status.Manager, "the manager of the cohort has all of it")
	assert.Equal(t, v1alpha1.ReasonTakenOver, p.Events[0].Reason)

	x := makeJob("x", 1, in("a"), inQueue("m"))
	still, _ := ofA.pass(busy, 1, x, mine)
	assert.Empty(t, held(still), "not all of it is its own yet")
	given, _ := ofA.pass(busy, 1, x, got)
	assert.Equal(t, []string{"x"}, held(given))

	idle := makeSetup("m", clusters(1), lab, managedBy(ofA))
	got, _ = ofB.pass(makeSetup("z", clusters(1), lab, managedBy(ofA)), 1, waits, idle)
	assert.Equal(t, ofB.record(), got.Status.Manager)
	assert.Equal(t, []string{"waits: Queued"}, waiting(got))
	idle, _ = ofB.pass(idle, 1, waits, got)
	assert.Equal(t, ofB.record(), idle.Status.Manager, "and the rest of the cohort with it")
	got, _ = ofB.pass(got, 1, waits, idle)
	assert.Equal(t, []string{"waits"}, held(got))
}

func TestWhatWakesAManagerOfAQueue(t *testing.T) {
	a, b := makeJob("a-job", 1, in("a"), holding), makeJob("b-job", 2, in("b"), holding)
	again := b.DeepCopy()
	again.Status.Attempts++
	setup := func(change ...func(*v1alpha1.FluxSetup)) *v1alpha1.FluxSetup { return makeSetup("q", change...) }
	tests := map[string]struct {
		by            Manager
		before, after *v1alpha1.FluxSetup
		want          woken
	}{
		"its own book":            {ofA, setup(managedBy(ofA)), setup(managedBy(ofA), withReservations(a)), woken{}},
		"another manager's part":  {ofA, setup(managedBy(ofA), withReservations(a, b)), setup(managedBy(ofA), withReservations(a)), queues("q")},
		"another's next attempt":  {ofA, setup(managedBy(ofA), withReservations(b)), setup(managedBy(ofA), withReservations(again)), queues("q")},
		"all of the book":         {Manager{}, setup(withReservations(a, b)), setup(withReservations(a)), woken{}},
		"its own name":            {ofA, setup(unmanaged), setup(managedBy(ofA)), queues("q")},
		"a request":               {ofA, setup(managedBy(ofA)), setup(managedBy(ofA), requestedBy("ops/b", 1, false)), queues("q")},
		"a queue in use":          {ofB, setup(managedBy(ofA), withReservations(a)), setup(managedBy(ofA), withReservations(a, b)), woken{}},
		"a queue that falls idle": {ofB, setup(managedBy(ofA), withReservations(a)), setup(managedBy(ofA)), queues("q")},
		"idle but for its own":    {ofB, setup(managedBy(ofA), withReservations(a, b)), setup(managedBy(ofA), withReservations(b)), queues("q")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tt.want, of(tt.by.queuesOfSetup)(tt.before, tt.after)) })
	}
}

// A request that is pending doesn't delay the next look at what jobs that are gone have left.
func TestARequestDelaysNothing(t *testing.T) {
	b := makeJob("b-job", 1, in("b"), holding)
	setup := makeSetup("q", clusters(2), managedBy(ofA), withReservations(b), inLine("x"))
	left := &v1alpha1.MiniCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "b", Name: "b-job", OwnerReferences: []metav1.OwnerReference{
		*metav1.NewControllerRef(b, v1alpha1.GroupVersion.WithKind("FluxJob"))}}}
	_, p := ofB.pass(setup, 30, left, makeJob("waits", 2, in("b")))
	assert.Equal(t, time.Minute, p.RequeueAfter)
	_, p = ofB.pass(setup, 30, b, makeJob("waits", 2, in("b")))
	assert.Equal(t, 5*time.Minute, p.RequeueAfter)
}

// A manager that is gone may have only another queue of the cohort, which no change of the jobs wakes. The request in the queue that
// the jobs are in does.
func TestACohortIsRequestedInTheQueueThatHasTheJobs(t *testing.T) {
	lab, waits := inCohort("lab"), makeJob("waits", 1, in("b"), inQueue("q2"))
	of := func(m Manager, change ...func(*v1alpha1.FluxSetup)) *v1alpha1.FluxSetup {
		return makeSetup("q1", append(change, clusters(1), lab, managedBy(m))...)
	}
	requested := func(second int) *v1alpha1.FluxSetupManager {
		record := ofA.record()
		record.Takeover = &v1alpha1.FluxSetupTakeover{By: "ops/b", Time: at(second)}
		return record
	}
	for name, record := range map[string]func(*v1alpha1.FluxSetup){"unmanaged": unmanaged, "its own": managedBy(ofB)} {
		t.Run(name, func(t *testing.T) {
			q2 := makeSetup("q2", clusters(1), lab, record)
			first := of(ofA, inLine("x"), requestedBy("ops/c", 0, true))
			got, p := ofB.pass(q2, 10, first, waits)
			assert.Equal(t, requested(10), got.Status.Manager)
			assert.Equal(t, 5*time.Minute, p.RequeueAfter)
			all, _ := ofB.queuesOfSetup(q2, got)
			assert.True(t, all)
			first, _ = ofB.pass(of(ofA, inLine("x")), 11, got, waits)
			assert.Equal(t, requested(11), first.Status.Manager)
			first, _ = ofB.pass(first, 311, got, waits)
			assert.Equal(t, ofB.record(), first.Status.Manager)

			idle, _ := ofB.pass(q2, 10, of(ofA), waits)
			assert.Equal(t, ofB.record(), idle.Status.Manager, "a cohort without jobs of its manager is taken at once")
			none, p := ofB.pass(q2, 10, of(ofA, inLine("x")))
			assert.Equal(t, q2.Status.Manager, none.Status.Manager, "without jobs it is left alone")
			assert.Nil(t, p.Status)
		})
	}
}

// A clock that was ahead keeps no one from requesting a queue.
func TestARequestFromTheFuture(t *testing.T) {
	for name, request := range map[string]func(*v1alpha1.FluxSetup){
		"its own":              requestedBy("ops/b", 90000, false),
		"its own, declined":    requestedBy("ops/b", 90000, true),
		"of another":           requestedBy("ops/c", 90000, false),
		"of another, declined": requestedBy("ops/c", 90000, true),
	} {
		t.Run(name, func(t *testing.T) {
			got, p := ofB.pass(makeSetup("q", clusters(1), managedBy(ofA), inLine("x"), request), 10, makeJob("waits", 1, in("b")))
			assert.Equal(t, &v1alpha1.FluxSetupTakeover{By: "ops/b", Time: at(10)}, got.Status.Manager.Takeover)
			assert.Equal(t, 5*time.Minute, p.RequeueAfter)
		})
	}
}

// The way that the docs tell to make a queue of several managers again: closed until each of them has entered what its jobs hold.
func TestAClosedQueueThatIsMadeAgainFindsAllReservations(t *testing.T) {
	closed := func(s *v1alpha1.FluxSetup) { s.Spec.StopPolicy = v1alpha1.StopHold }
	a0, a1 := makeJob("a0", 1, in("a"), holding), makeJob("a1", 2, in("a"), holding)
	waits := makeJob("waits", 3, in("b"))
	setup := makeSetup("q", clusters(2), unmanaged, closed)
	for range 2 {
		setup, _ = ofB.pass(setup, 10, waits)
		assert.Equal(t, ofB.record(), setup.Status.Manager)
		assert.Empty(t, held(setup))
	}
	setup, _ = ofA.pass(setup, 11, a0, a1)
	assert.Equal(t, []string{"a0", "a1"}, held(setup))
	setup.Spec.StopPolicy = ""
	setup, _ = ofB.pass(setup, 12, waits)
	assert.Equal(t, []string{"a0", "a1"}, held(setup))
	assert.Equal(t, []string{"waits: WaitingForQuota miniClusters"}, waiting(setup))
}

// Whoever gives a cohort to a manager by its name gives it the queues one by one.
func TestACohortGivenByName(t *testing.T) {
	lab, x, runs := inCohort("lab"), makeJob("x", 2, in("a"), inQueue("q1")), makeJob("runs", 1, in("a"), inQueue("q2"), holding)
	given := func(s *v1alpha1.FluxSetup) { s.Status.Manager.Name = "ops/b" } // its namespaces stay: those of the other one
	q1 := makeSetup("q1", clusters(1), lab, managedBy(ofA), inLine("x"))
	q2 := makeSetup("q2", clusters(1), lab, managedBy(ofA), withReservations(runs))

	last := q2.DeepCopy()
	given(last)
	back, _ := ofA.pass(last, 1, q1, x, runs)
	assert.Equal(t, ofA.record(), back.Status.Manager, "the first queue in use decides")

	first := q1.DeepCopy()
	given(first)
	for _, second := range []*v1alpha1.FluxSetup{q2, last} {
		taken, _ := ofB.pass(first, 2, second)
		assert.Equal(t, ofB.record(), taken.Status.Manager)
		refused, _ := ofA.pass(second, 2, first, runs, x)
		assert.Equal(t, "ops/b", refused.Status.Manager.Name, "the former manager goes along")
		rest, _ := ofB.pass(second, 3, first)
		assert.Equal(t, ofB.record(), rest.Status.Manager)
		assert.Equal(t, []string{"runs"}, held(rest))
	}
}
