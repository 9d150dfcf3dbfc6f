package admission

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

func TestWhoIsAdmitted(t *testing.T) {
	suspended := func(j *v1alpha1.FluxJob) { j.Spec.Suspend = true }
	ended := func(j *v1alpha1.FluxJob) { j.Status.CompletionTime = new(at(3)) }
	sized := func(n int32) func(*v1alpha1.FluxJob) {
		return func(j *v1alpha1.FluxJob) { j.Spec.Size = &n }
	}
	backingOff := func(j *v1alpha1.FluxJob) { j.Status.RequeueTime = new(at(100)) }
	labelled := func(j *v1alpha1.FluxJob) {
		j.Labels, j.Spec.Queue = map[string]string{v1alpha1.LabelKueueQueue: "k"}, ""
	}
	tests := map[string]struct {
		setup   *v1alpha1.FluxSetup
		others  []client.Object
		held    []string
		waiting []string
		pending int32
	}{
		"two of three fit": {
			setup: makeSetup("q", clusters(2)), others: []client.Object{makeJob("a", 1), makeJob("b", 2), makeJob("c", 3)},
			held: []string{"a", "b"}, waiting: []string{"c: WaitingForQuota miniClusters"}, pending: 1,
		},
		"by pods": {
			setup: makeSetup("q", podLimit(3)), others: []client.Object{makeJob("a", 1), makeJob("b", 2), makeJob("c", 3, sized(1))},
			held: []string{"a", "c"}, waiting: []string{"b: WaitingForQuota pods"}, pending: 1,
		},
		"by cpu": {
			setup: makeSetup("q", cpus("4500m")), others: []client.Object{makeJob("a", 1), makeJob("b", 2), makeJob("c", 3)},
			held: []string{"a", "b"}, waiting: []string{"c: WaitingForQuota cpu"}, pending: 1,
		},
		"without a quota": {
			setup: makeSetup("q"), others: []client.Object{makeJob("a", 1), makeJob("b", 2)}, held: []string{"a", "b"},
		},
		"of other queues, Kueue's, suspended, ended": {
			setup: makeSetup("q", clusters(2)),
			others: []client.Object{makeJob("a", 1, inQueue("other")), makeJob("b", 2, labelled), makeJob("c", 3, suspended),
				makeJob("d", 4, ended), makeJob("e", 5)},
			held: []string{"e"},
		},
		"too large for the quota, and for maxSize": {
			setup:  makeSetup("q", podLimit(3), func(s *v1alpha1.FluxSetup) { s.Spec.MiniCluster.MaxSize = ptr.To[int32](4) }),
			others: []client.Object{makeJob("a", 1, sized(4)), makeJob("b", 2, sized(5)), makeJob("c", 3)},
			held:   []string{"c"}, pending: 2,
		},
		"the size that the setup says": {
			setup:  makeSetup("q", podLimit(3), func(s *v1alpha1.FluxSetup) { s.Spec.MiniCluster.Size = ptr.To[int32](3) }),
			others: []client.Object{makeJob("a", 1, func(j *v1alpha1.FluxJob) { j.Spec.Size = nil }), makeJob("b", 2, sized(1))},
			held:   []string{"a"}, waiting: []string{"b: WaitingForQuota pods"}, pending: 1,
		},
		"backing off": {
			setup: makeSetup("q", clusters(1)), others: []client.Object{makeJob("a", 1, backingOff)},
			waiting: []string{"a: Backoff"}, pending: 1,
		},
		"an invalid job": {
			setup: makeSetup("q"), others: []client.Object{makeJob("a", 1, func(j *v1alpha1.FluxJob) { j.Spec.Image = "" })}, pending: 1,
		},
		"a job whose MiniCluster was refused": {
			setup: makeSetup("q"), others: []client.Object{makeJob("a", 1, func(j *v1alpha1.FluxJob) {
				j.Status.LastEviction = &v1alpha1.FluxEviction{Reason: v1alpha1.ReasonInvalidSpec}
				j.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionJobRequested, Reason: v1alpha1.ReasonInvalidSpec, ObservedGeneration: j.Generation}}
			})}, pending: 1,
		},
		"strict": {
			setup:  makeSetup("q", podLimit(3), func(s *v1alpha1.FluxSetup) { s.Spec.QueueingStrategy = v1alpha1.StrictFIFO }),
			others: []client.Object{makeJob("a", 1), makeJob("b", 2), makeJob("c", 3, sized(1))},
			held:   []string{"a"}, waiting: []string{"b: WaitingForQuota pods", "c: BlockedByHeadOfQueue"}, pending: 2,
		},
		"a higher priority first, the setup's own for those that say none": {
			setup:  makeSetup("q", clusters(2), upTo(6), func(s *v1alpha1.FluxSetup) { s.Spec.Priority = 5 }),
			others: []client.Object{makeJob("a", 1, ofPriority(4)), makeJob("b", 2), makeJob("c", 3, ofPriority(6))},
			held:   []string{"c", "b"}, waiting: []string{"a: WaitingForQuota miniClusters"}, pending: 1,
		},
		"paused, and paused by an undo": {
			setup: makeSetup("q", clusters(1)), others: []client.Object{makeJob("a", 1, paused), makeJob("b", 2),
				makeJob("c", 1, func(j *v1alpha1.FluxJob) { j.Annotations = map[string]string{wellknown.AnnotationUndo: "c-1"} })},
			held: []string{"b"},
		},
		"held": {
			setup: makeSetup("q", func(s *v1alpha1.FluxSetup) { s.Spec.StopPolicy = v1alpha1.StopHold }), others: []client.Object{makeJob("a", 1)},
			waiting: []string{"a: QueueStopped"}, pending: 1,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := settle(t, tt.setup, 10, tt.others...)
			assert.Equal(t, tt.held, held(got))
			assert.Equal(t, tt.waiting, waiting(got))
			assert.Equal(t, tt.pending, got.Status.PendingWorkloads)
			assert.Equal(t, int32(len(tt.held)), got.Status.AdmittedWorkloads)
			assert.Equal(t, int64(1), got.Status.ObservedGeneration)
		})
	}
}

func TestTheOldestPendingTimeIsThatOfAllWaitingJobs(t *testing.T) {
	large := makeJob("large", 1, func(j *v1alpha1.FluxJob) { j.Spec.Size = ptr.To[int32](4) })
	huge := makeJob("huge", 2, func(j *v1alpha1.FluxJob) { j.Spec.Size = ptr.To[int32](9) })
	bounds := func(s *v1alpha1.FluxSetup) { s.Spec.MiniCluster.MaxSize = ptr.To[int32](8) }
	runs, waits := makeJob("runs", 0), makeJob("waits", 3)
	oldest := func(jobs ...client.Object) *metav1.Time {
		return settle(t, makeSetup("q", podLimit(3), bounds), 10, append(jobs, runs)...).Status.OldestPendingTime
	}
	assert.Nil(t, oldest())
	assert.Equal(t, at(3), *oldest(waits))
	assert.Equal(t, at(2), *oldest(waits, huge), "over maxSize")
	assert.Equal(t, at(1), *oldest(waits, huge, large), "over the quota")
}

func TestNamespaces(t *testing.T) {
	namespace := func(name, team string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": team}}}
	}
	elsewhere := makeJob("b", 2)
	elsewhere.Namespace = "other"
	setup := makeSetup("q", func(s *v1alpha1.FluxSetup) {
		s.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "hpc"}}
	})
	got := settle(t, setup, 10, makeJob("a", 1), elsewhere, namespace("default", "hpc"), namespace("other", "web"))
	assert.Equal(t, []string{"a"}, held(got))
	assert.Empty(t, waiting(got))
	assert.Zero(t, got.Status.PendingWorkloads, "what the queue isn't for doesn't wait in it")
	assert.Nil(t, got.Status.OldestPendingTime)
}

// A job may arrive before its namespace. A negative selector selects a namespace without labels, but not one that isn't known.
func TestAJobWhoseNamespaceIsUnknown(t *testing.T) {
	notWeb := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "team", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"web"}}}}
	known := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}

	setup := makeSetup("q", func(s *v1alpha1.FluxSetup) { s.Spec.NamespaceSelector = notWeb })
	assert.Empty(t, held(settle(t, setup, 10, makeJob("a", 1))))
	assert.Equal(t, []string{"a"}, held(settle(t, setup, 10, makeJob("a", 1), known)))

	limited := makeSetup("q", clusters(1), func(s *v1alpha1.FluxSetup) {
		s.Spec.PriorityLimits = []v1alpha1.FluxPriorityLimit{{NamespaceSelector: notWeb, Max: 9}}
	})
	urgent := makeJob("urgent", 2, ofPriority(9))
	assert.Equal(t, []string{"a"}, held(settle(t, limited, 10, makeJob("a", 1), urgent)))
	assert.Equal(t, []string{"urgent"}, held(settle(t, limited, 10, makeJob("a", 1), urgent, known)))
}

// What a tenant writes into its own job moves no job of another namespace, unless the queue lets it.
func TestNoNamespaceGivesItselfAPriority(t *testing.T) {
	space := func(name, tier string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"tier": tier}}}
	}
	limits := func(limits ...v1alpha1.FluxPriorityLimit) func(*v1alpha1.FluxSetup) {
		return func(s *v1alpha1.FluxSetup) { s.Spec.PriorityLimits = limits }
	}
	tier := func(name string, most int32) v1alpha1.FluxPriorityLimit {
		return v1alpha1.FluxPriorityLimit{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": name}}, Max: most}
	}
	important := func(s *v1alpha1.FluxSetup) { s.Spec.Priority = 10 }
	tests := map[string]struct {
		change         func(*v1alpha1.FluxSetup)
		victim, urgent *int32
		held, waiting  []string
		preemptedBy    int32
	}{
		"without limits": {urgent: ptr.To[int32](math.MaxInt32),
			held: []string{"victim"}, waiting: []string{"before: WaitingForQuota miniClusters", "urgent: WaitingForQuota miniClusters"}},
		"without limits, of a queue that has a priority": {change: important, urgent: ptr.To[int32](math.MaxInt32),
			held: []string{"victim"}, waiting: []string{"before: WaitingForQuota miniClusters", "urgent: WaitingForQuota miniClusters"}},
		"those who step back can be pushed out": {victim: ptr.To[int32](-1),
			held: []string{"(victim: Preempted)"}, waiting: []string{"before: Preempting", "urgent: WaitingForQuota miniClusters", "victim: WaitingForQuota miniClusters"}},
		"the limit of another": {change: limits(tier("gold", 100)), urgent: ptr.To[int32](100),
			held: []string{"victim"}, waiting: []string{"before: WaitingForQuota miniClusters", "urgent: WaitingForQuota miniClusters"}},
		"its own limit": {change: limits(tier("gold", 200), tier("bronze", 100)), urgent: ptr.To[int32](math.MaxInt32), preemptedBy: 100,
			held: []string{"(victim: Preempted)"}, waiting: []string{"urgent: Preempting", "victim: WaitingForQuota miniClusters", "before: WaitingForQuota miniClusters"}},
		"the first that selects": {change: limits(tier("bronze", 0), v1alpha1.FluxPriorityLimit{Max: 100}), urgent: ptr.To[int32](100),
			held: []string{"victim"}, waiting: []string{"before: WaitingForQuota miniClusters", "urgent: WaitingForQuota miniClusters"}},
		"a limit below the queue's own": {change: limits(tier("bronze", -1)),
			held: []string{"victim"}, waiting: []string{"before: WaitingForQuota miniClusters", "urgent: WaitingForQuota miniClusters"}},
		"a job that runs is no safer than its limit": {change: limits(tier("gold", 5)), victim: ptr.To[int32](math.MaxInt32), urgent: ptr.To[int32](5),
			held: []string{"victim"}, waiting: []string{"before: WaitingForQuota miniClusters", "urgent: WaitingForQuota miniClusters"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			victim, before := makeJob("victim", 1, holding), makeJob("before", 2)
			urgent := makeJob("urgent", 3)
			victim.Spec.Priority, urgent.Spec.Priority = tt.victim, tt.urgent
			urgent.Namespace = "attacker"
			setup := makeSetup("q", clusters(1), preempting, withReservations(victim))
			if tt.change != nil {
				tt.change(setup)
			}
			got := settle(t, setup, 10, victim, before, urgent, space("default", "silver"), space("attacker", "bronze"))
			assert.Equal(t, tt.held, held(got))
			assert.Equal(t, tt.waiting, waiting(got))
			if tt.preemptedBy != 0 {
				assert.Equal(t, fmt.Sprintf(`preempted by a job of priority %d in queue "q"`, tt.preemptedBy), got.Status.Reservations[0].Evicted.Message)
			}
		})
	}
}

func TestAReservationSaysWhatWasGiven(t *testing.T) {
	job := makeJob("a", 1)
	job.Generation, job.Status.Attempts = 3, 2
	got := settle(t, makeSetup("q", podLimit(5), cpus("8")), 10, job)
	assert.Equal(t, []v1alpha1.FluxReservation{{
		Namespace: "default", Name: "a", UID: "a-uid", Attempt: 3, Time: at(10), Generation: 3, Size: 2, Pods: 2,
		Resources: corev1.ResourceList{"cpu": *resource.NewMilliQuantity(2000, resource.DecimalSI)},
	}}, got.Status.Reservations)
	var texts []string
	for _, r := range got.Status.Usage {
		texts = append(texts, fmt.Sprint(r.Name, ": ", r.Used.String(), " of ", r.Quota.String(), ", ", r.Free.String(), " free, at most ", r.Maximum.String()))
	}
	assert.Equal(t, []string{"pods: 2 of 5, 3 free, at most 5", "cpu: 2 of 8, 6 free, at most 8"}, texts)
}

func TestWhichReservationsStillHold(t *testing.T) {
	cluster := &v1alpha1.MiniCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", OwnerReferences: []metav1.OwnerReference{
		*metav1.NewControllerRef(makeJob("a", 1), v1alpha1.GroupVersion.WithKind("FluxJob"))}}}
	accepted := makeJob("a", 1, holding)
	offered := withReservations(makeJob("a", 1))
	orphan := func(change ...func(*v1alpha1.MiniCluster)) []client.Object { // after kubectl delete --cascade=orphan
		c := cluster.DeepCopy()
		c.OwnerReferences, c.Labels = nil, map[string]string{LabelQueue: "q"}
		for _, f := range change {
			f(c)
		}
		return []client.Object{makeJob("b", 2), c}
	}
	controlled := func(change func(*v1alpha1.MiniCluster)) []client.Object {
		c := cluster.DeepCopy()
		change(c)
		return []client.Object{makeJob("b", 2), c}
	}
	ended := func(kind string) func(*v1alpha1.MiniCluster) {
		return func(c *v1alpha1.MiniCluster) {
			c.Status.Conditions = []metav1.Condition{{Type: kind, Status: metav1.ConditionTrue, Reason: kind}}
		}
	}
	tests := map[string]struct {
		setup  *v1alpha1.FluxSetup
		others []client.Object
		held   []string
	}{
		"accepted":             {makeSetup("q", clusters(1), withReservations(accepted)), []client.Object{accepted, makeJob("b", 2)}, []string{"a"}},
		"yet to be accepted":   {makeSetup("q", clusters(1), offered), []client.Object{makeJob("a", 1), makeJob("b", 2)}, []string{"a"}},
		"not seen in the book": {makeSetup("q", clusters(1)), []client.Object{accepted, makeJob("b", 2)}, []string{"a"}},
		"given back": {makeSetup("q", clusters(1), offered), []client.Object{
			makeJob("a", 1, func(j *v1alpha1.FluxJob) { j.Status.Attempts, j.Status.CompletionTime = 1, new(at(5)) }), makeJob("b", 2)}, []string{"b"}},
		"declined": {makeSetup("q", clusters(1), offered), []client.Object{
			makeJob("a", 1, func(j *v1alpha1.FluxJob) { j.Status.Attempts, j.Spec.Suspend = 1, true }), makeJob("b", 2)}, []string{"b"}},
		"suspended, but not declined": {makeSetup("q", clusters(1), offered), []client.Object{
			makeJob("a", 1, func(j *v1alpha1.FluxJob) { j.Spec.Suspend = true }), makeJob("b", 2)}, []string{"a"}},
		"ended, with pods that have yet to stop": {makeSetup("q", clusters(1), withReservations(accepted)), []client.Object{
			makeJob("a", 1, holding, func(j *v1alpha1.FluxJob) { j.Status.CompletionTime = new(at(5)) }), makeJob("b", 2)}, []string{"a"}},
		"gone":                                  {makeSetup("q", clusters(1), withReservations(accepted)), []client.Object{makeJob("b", 2)}, []string{"b"}},
		"gone, with a MiniCluster that remains": {makeSetup("q", clusters(1), withReservations(accepted)), []client.Object{makeJob("b", 2), cluster}, []string{"a"}},
		"gone, with a MiniCluster that was orphaned": {makeSetup("q", clusters(1), withReservations(accepted)), orphan(), []string{"a"}},
		"an orphan that succeeded": {
			makeSetup("q", clusters(1), withReservations(accepted)), orphan(ended(v1alpha1.ConditionSucceeded)), []string{"b"}},
		"an orphan that failed": {
			makeSetup("q", clusters(1), withReservations(accepted)), orphan(ended(v1alpha1.ConditionFailed)), []string{"b"}},
		"an orphan of another name": {makeSetup("q", clusters(1), withReservations(accepted)),
			orphan(func(c *v1alpha1.MiniCluster) { c.Name = "c" }), []string{"b"}},
		"an orphan in another namespace": {makeSetup("q", clusters(1), withReservations(accepted)),
			orphan(func(c *v1alpha1.MiniCluster) { c.Namespace = "other" }), []string{"b"}},
		"controlled, in another namespace": {makeSetup("q", clusters(1), withReservations(accepted)), controlled(func(c *v1alpha1.MiniCluster) {
			c.Namespace = "other"
		}), []string{"b"}},
		"controlled, by a FluxJob of another group": {makeSetup("q", clusters(1), withReservations(accepted)),
			controlled(func(c *v1alpha1.MiniCluster) { c.OwnerReferences[0].APIVersion = "example.com/v1" }), []string{"b"}},
		"a user's own MiniCluster": {makeSetup("q", clusters(1), withReservations(accepted)),
			orphan(func(c *v1alpha1.MiniCluster) { c.Labels = nil }), []string{"b"}},
		"an orphan of another queue": {makeSetup("q", clusters(1), withReservations(accepted)),
			orphan(func(c *v1alpha1.MiniCluster) { c.Labels[LabelQueue] = "p" }), []string{"b"}},
		"another of the same name": {makeSetup("q", clusters(1), withReservations(accepted)), []client.Object{
			makeJob("a", 5, func(j *v1alpha1.FluxJob) { j.UID = "other" }), makeJob("b", 2)}, []string{"b"}},
		"moved to another queue": {makeSetup("q", clusters(1), withReservations(accepted)), []client.Object{
			makeJob("a", 1, holding, inQueue("other"), func(j *v1alpha1.FluxJob) { j.Status.Admission.Queue = "q" }), makeJob("b", 2)}, []string{"a"}},
		"entered twice":                      {makeSetup("q", clusters(3), withReservations(accepted, accepted)), []client.Object{accepted}, []string{"a"}},
		"more than a quota that was lowered": {makeSetup("q", clusters(0), withReservations(accepted)), []client.Object{accepted, makeJob("b", 2)}, []string{"a"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.held, held(settle(t, tt.setup, 30, tt.others...)))
		})
	}
	p := plan(t, makeSetup("q", clusters(1), withReservations(accepted)), 30, cluster)
	assert.Equal(t, leftoverDelay, p.RequeueAfter, "should no event tell that it is gone")
	p = plan(t, makeSetup("q", clusters(1), withReservations(accepted)), 30, orphan()...)
	assert.Equal(t, leftoverDelay, p.RequeueAfter, "no event tells that an orphan has ended")
}

// After a restart the cache of the jobs may lag behind that of the setups: it doesn't have a job yet that was just admitted.
func TestAReservationOfAJobThatIsNotInTheCacheYet(t *testing.T) {
	setup := makeSetup("q", clusters(1), withReservations(makeJob("a", 1)))
	p := plan(t, setup, 4, makeJob("b", 2))
	require.NotNil(t, p.Status)
	assert.Equal(t, []string{"a"}, held(p.Status))
	assert.Equal(t, 12*time.Second, p.RequeueAfter)
	assert.Equal(t, []string{"b"}, held(settle(t, setup, 16, makeJob("b", 2))))
}

// A holder that doesn't leave is no victim, and what it holds doesn't become free: another one is preempted.
func TestAHolderThatDoesNotLeave(t *testing.T) {
	deleted := func(finalizer string) func(*v1alpha1.FluxJob) {
		return func(j *v1alpha1.FluxJob) { j.DeletionTimestamp, j.Finalizers = new(at(20)), []string{finalizer} }
	}
	cluster := func(change ...func(*v1alpha1.MiniCluster)) *v1alpha1.MiniCluster {
		c := &v1alpha1.MiniCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", Labels: map[string]string{LabelQueue: "q"}}}
		for _, f := range change {
			f(c)
		}
		return c
	}
	terminating := func(c *v1alpha1.MiniCluster) { c.DeletionTimestamp = new(at(20)) }
	suspended := func(c *v1alpha1.MiniCluster) { c.Spec.Suspend = true }
	evicted := func(j *v1alpha1.FluxJob) {
		j.Status.Admission.Evicted = &v1alpha1.FluxEviction{Reason: v1alpha1.ReasonPreempted, Time: at(20)}
	}
	a := func(change ...func(*v1alpha1.FluxJob)) *v1alpha1.FluxJob {
		return makeJob("a", 1, append([]func(*v1alpha1.FluxJob){holding, ofPriority(-1)}, change...)...)
	}
	stays, leaves := []string{"a", "(b: Preempted)"}, []string{"a", "b"}
	tests := map[string]struct {
		a    []client.Object // the holder and its MiniCluster
		held []string
	}{
		"an orphan":                           {[]client.Object{cluster()}, stays},
		"an orphan that is being deleted":     {[]client.Object{cluster(terminating)}, leaves},
		"a deleted job, its MiniCluster runs": {[]client.Object{a(deleted("example.com/f")), cluster()}, stays},
		"a deleted job, its MiniCluster too":  {[]client.Object{a(deleted("example.com/f")), cluster(terminating)}, leaves},
		"a deleted job whose orphan has no pods": {
			[]client.Object{a(deleted("example.com/f"), func(j *v1alpha1.FluxJob) { j.Status.Admission = nil }), cluster()}, stays},
		"a deleted job, suspended":             {[]client.Object{a(deleted("example.com/f")), cluster(suspended)}, leaves},
		"a deleted job, its MiniCluster gone":  {[]client.Object{a(deleted("example.com/f"))}, leaves},
		"a job that is deleted in foreground":  {[]client.Object{a(deleted(metav1.FinalizerDeleteDependents)), cluster()}, leaves},
		"a paused job":                         {[]client.Object{a(paused)}, stays},
		"a paused job that was evicted before": {[]client.Object{a(evicted, paused)}, stays},
		"a job that was evicted":               {[]client.Object{a(evicted)}, leaves},
		"a paused job that is being deleted":   {[]client.Object{a(paused, deleted("example.com/f"))}, leaves},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := makeJob("b", 2, holding)
			setup := makeSetup("q", clusters(2), preempting, upTo(5), withReservations(a(), b))
			got := settle(t, setup, 30, append(tt.a, b, makeJob("urgent", 3, ofPriority(5)))...)
			assert.Equal(t, tt.held, held(got))
			assert.Equal(t, "urgent: Preempting", waiting(got)[0])
		})
	}

	marks := func(s *v1alpha1.FluxSetup) {
		s.Spec.StopPolicy, s.Spec.Readiness = v1alpha1.StopHoldAndDrain, &v1alpha1.FluxReadiness{TimeoutSeconds: 1}
	}
	got := settle(t, makeSetup("q", marks, withReservations(a())), 30, a(paused))
	assert.Equal(t, []string{"a"}, held(got), "it is evicted once it isn't paused any more")
	got = settle(t, got, 31, a())
	assert.Equal(t, []string{"(a: QueueStopped)"}, held(got))
}

func TestEvictions(t *testing.T) {
	a, b := makeJob("a", 1, holding), makeJob("b", 2, holding)
	urgent := makeJob("urgent", 3, ofPriority(5))
	got := settle(t, makeSetup("q", clusters(2), preempting, upTo(5), withReservations(a, b)), 10, a, b, urgent)
	assert.Equal(t, []string{"a", "(b: Preempted)"}, held(got))
	assert.Equal(t, []string{"urgent: Preempting", "b: WaitingForQuota miniClusters"}, waiting(got), "b has its place at once")
	assert.Equal(t, int32(1), got.Status.PendingWorkloads, "b counts as admitted until it has left")
	assert.Equal(t, `preempted by a job of priority 5 in queue "q"`, got.Status.Reservations[1].Evicted.Message)
	assert.Equal(t, at(10), got.Status.Reservations[1].Evicted.Time)

	readiness := func(s *v1alpha1.FluxSetup) {
		s.Spec.Readiness = &v1alpha1.FluxReadiness{TimeoutSeconds: 30, BackoffSeconds: 60, BackoffMaxSeconds: 60}
	}
	ready := makeJob("b", 2, holding, func(j *v1alpha1.FluxJob) { j.Status.Admission.ReadyTime = new(at(5)) })
	setup := makeSetup("q", readiness, withReservations(a, ready))
	p := plan(t, setup, 21, a, ready)
	assert.Equal(t, 11*time.Second, p.RequeueAfter)
	got = settle(t, setup, 32, a, ready)
	assert.Equal(t, []string{"(a: NotReady)", "b"}, held(got))
	assert.Equal(t, "not all pods were ready 30 seconds after the admission", got.Status.Reservations[0].Evicted.Message)

	drained := func(s *v1alpha1.FluxSetup) { s.Spec.StopPolicy = v1alpha1.StopHoldAndDrain }
	got = settle(t, makeSetup("q", drained, upTo(5), withReservations(a)), 10, a, urgent)
	assert.Equal(t, []string{"(a: QueueStopped)"}, held(got))
	assert.Equal(t, []string{"urgent: QueueStopped", "a: QueueStopped"}, waiting(got))
	assert.Equal(t, `queue "q" has stopPolicy HoldAndDrain`, got.Status.Reservations[0].Evicted.Message)
}

// The operator of FluxJobs records that pods became ready during a pause only after the pause. Until then the MiniCluster says so.
func TestPodsThatBecameReadyDuringAPause(t *testing.T) {
	a := makeJob("a", 1, holding)
	controlled := func(change ...func(*v1alpha1.MiniCluster)) *v1alpha1.MiniCluster {
		c := &v1alpha1.MiniCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", Labels: map[string]string{LabelQueue: "q"}}}
		c.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(a, v1alpha1.GroupVersion.WithKind("FluxJob"))}
		for _, f := range change {
			f(c)
		}
		return c
	}
	is := func(kind string, status metav1.ConditionStatus) func(*v1alpha1.MiniCluster) {
		return func(c *v1alpha1.MiniCluster) {
			c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{Type: kind, Status: status})
		}
	}
	ready, unready := is(v1alpha1.MiniClusterPodsReady, metav1.ConditionTrue), is(v1alpha1.MiniClusterPodsReady, metav1.ConditionFalse)
	suspended := func(c *v1alpha1.MiniCluster) { c.Spec.Suspend = true }
	orphaned := func(c *v1alpha1.MiniCluster) { c.OwnerReferences = nil }
	readiness := func(s *v1alpha1.FluxSetup) {
		s.Spec.Readiness = &v1alpha1.FluxReadiness{TimeoutSeconds: 30, BackoffSeconds: 60, BackoffMaxSeconds: 60}
	}
	for name, tt := range map[string]struct {
		cluster *v1alpha1.MiniCluster
		held    string
		after   time.Duration // until the next pass
	}{
		"ready":                      {controlled(ready), "a", readyDelay},
		"ended":                      {controlled(unready, is(v1alpha1.ConditionSucceeded, metav1.ConditionTrue)), "a", readyDelay},
		"not ready":                  {controlled(unready), "(a: NotReady)", 0},
		"no condition":               {controlled(), "(a: NotReady)", 0},
		"ready before a suspension":  {controlled(ready, suspended), "(a: NotReady)", 0},
		"ready, but another owner's": {controlled(ready, orphaned), "(a: NotReady)", 0},
	} {
		t.Run(name, func(t *testing.T) {
			setup := settle(t, makeSetup("q", readiness, withReservations(a)), 40, makeJob("a", 1, holding, paused), tt.cluster)
			assert.Equal(t, []string{"a"}, held(setup))
			setup = settle(t, setup, 50, a, tt.cluster)
			assert.Equal(t, []string{tt.held}, held(setup))
			assert.Equal(t, tt.after, plan(t, setup, 50, a, tt.cluster).RequeueAfter, "the pods may become unready before the job has recorded them")
		})
	}
}

// Who was evicted keeps its place in the line from then on, whatever became free meanwhile.
func TestNoEqualGoesBeforeWhoWasEvicted(t *testing.T) {
	strict := func(s *v1alpha1.FluxSetup) { s.Spec.QueueingStrategy = v1alpha1.StrictFIFO }
	evicted := func(reason string) func(*v1alpha1.FluxJob) {
		return func(j *v1alpha1.FluxJob) {
			j.Status.Admission.Evicted = &v1alpha1.FluxEviction{Reason: reason, Time: at(9)}
		}
	}
	three := func(j *v1alpha1.FluxJob) {
		j.Spec.Size, j.Status.Admission.Size, j.Status.Admission.Pods = ptr.To[int32](3), 3, 3
	}
	urgent := makeJob("urgent", 3, ofPriority(5), inQueue("yours"))
	equal := makeJob("equal", 2, func(j *v1alpha1.FluxJob) { j.Spec.Size = ptr.To[int32](1) })
	yours := makeSetup("yours", podLimit(2), inCohort("lab"), preempting, upTo(5))
	tests := map[string]struct {
		change  []func(*v1alpha1.FluxJob)
		admits  bool
		waiting []string
	}{
		"preempted":           {change: []func(*v1alpha1.FluxJob){evicted(v1alpha1.ReasonPreempted)}, waiting: []string{"low: WaitingForQuota pods", "equal: BlockedByHeadOfQueue"}},
		"its spec changed":    {change: []func(*v1alpha1.FluxJob){evicted(v1alpha1.ReasonSpecChanged)}, waiting: []string{"low: WaitingForQuota pods", "equal: BlockedByHeadOfQueue"}},
		"resumed so soon":     {change: []func(*v1alpha1.FluxJob){evicted(v1alpha1.ReasonSuspended)}, waiting: []string{"low: WaitingForQuota pods", "equal: BlockedByHeadOfQueue"}},
		"it has to back off":  {change: []func(*v1alpha1.FluxJob){evicted(v1alpha1.ReasonNotReady)}, admits: true},
		"suspended meanwhile": {change: []func(*v1alpha1.FluxJob){evicted(v1alpha1.ReasonPreempted), func(j *v1alpha1.FluxJob) { j.Spec.Suspend = true }}, admits: true},
		"ended meanwhile":     {change: []func(*v1alpha1.FluxJob){evicted(v1alpha1.ReasonPreempted), func(j *v1alpha1.FluxJob) { j.Status.CompletionTime = new(at(9)) }}, admits: true},
		"moved meanwhile":     {change: []func(*v1alpha1.FluxJob){evicted(v1alpha1.ReasonPreempted), inQueue("yours")}, admits: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			low := makeJob("low", 1, append([]func(*v1alpha1.FluxJob){holding, three}, tt.change...)...)
			low.Status.Admission.Queue = "q"
			mine := makeSetup("q", podLimit(2), inCohort("lab"), strict, withReservations(low))
			mine.Status.Reservations[0].Pods = 3
			got := settle(t, mine, 10, low, equal, urgent, yours)
			assert.Equal(t, tt.waiting, waiting(got))
			if tt.admits {
				assert.Equal(t, []string{"low", "equal"}, held(got))
			} else {
				assert.Equal(t, []string{"low"}, held(got))
			}
		})
	}
}

func TestACohort(t *testing.T) {
	mine := makeSetup("mine", clusters(1), inCohort("lab"), preempting, upTo(1))
	borrower := makeJob("borrower", 2, holding, inQueue("yours"), func(j *v1alpha1.FluxJob) { j.Status.Admission.Queue = "yours" })
	own := makeJob("own", 1, holding, inQueue("yours"), func(j *v1alpha1.FluxJob) { j.Status.Admission.Queue = "yours" })
	yours := makeSetup("yours", clusters(1), inCohort("lab"), withReservations(own, borrower))
	other := makeSetup("other", clusters(9))

	waits := makeJob("waits", 3, inQueue("mine"))
	got := settle(t, mine, 10, waits, own, borrower, yours, other)
	assert.Empty(t, held(got), "the cohort has nothing left")
	assert.Equal(t, []string{"waits: WaitingForQuota miniClusters"}, waiting(got))
	assert.Equal(t, "0", got.Status.Usage[0].Free.String())
	assert.Equal(t, "2", got.Status.Usage[0].Maximum.String())

	urgent := makeJob("urgent", 3, inQueue("mine"), ofPriority(1))
	got = settle(t, mine, 10, urgent, own, borrower, yours, other)
	assert.Equal(t, []string{"urgent: Preempting"}, waiting(got), "yours has to give it back")
	got = settle(t, yours, 10, urgent, own, borrower, mine, other)
	assert.Equal(t, []string{"own", "(borrower: Preempted)"}, held(got))
	assert.Equal(t, `preempted by a job of priority 1 in queue "mine"`, got.Status.Reservations[1].Evicted.Message)
}

// A job behind the entries of its queue's status may come to reclaim quota, and no status says so.
func TestAJobFarBehindReclaims(t *testing.T) {
	six := func(j *v1alpha1.FluxJob) { j.Spec.Size = ptr.To[int32](6) }
	mine := makeSetup("mine", podLimit(4), inCohort("lab"), preempting, upTo(10))
	var borrowers []*v1alpha1.FluxJob
	var objs []client.Object
	for i := range 4 {
		borrowers = append(borrowers, makeJob(fmt.Sprintf("holds-%d", i), i, inQueue("yours"), holding))
		objs = append(objs, borrowers[i])
	}
	yours := makeSetup("yours", podLimit(4), inCohort("lab"), withReservations(borrowers...))
	for i := range v1alpha1.MaxFluxQueueEntries {
		objs = append(objs, makeJob(fmt.Sprintf("large-%03d", i), i, inQueue("mine"), six, ofPriority(10)))
	}
	small := makeJob("small", 200, inQueue("mine"))
	mine = settle(t, mine, 300, append(objs, small, yours)...)
	yours = settle(t, yours, 300, append(objs, small, mine)...)
	assert.Equal(t, []string{"holds-0", "holds-1", "holds-2", "holds-3"}, held(yours))
	p := plan(t, yours, 300, append(objs, small, mine)...)
	assert.Equal(t, reclaimDelay, p.RequeueAfter)
	p = plan(t, mine, 300, append(objs, small, yours)...)
	assert.Zero(t, p.RequeueAfter, "it has nothing to give back")

	urgent := makeJob("small", 200, inQueue("mine"), ofPriority(1))
	urgent.Generation = 2
	assert.Equal(t, queues("mine"), of(queuesOfJob)(small, urgent))
	p = plan(t, mine, 301, append(objs, urgent, yours)...)
	assert.Nil(t, p.Status, "so nothing enqueues the other setup")
	yours = settle(t, yours, 360, append(objs, urgent, mine)...)
	assert.Equal(t, []string{"holds-0", "holds-1", "holds-2", "(holds-3: Preempted)"}, held(yours))
}

func TestAnInvalidSetupAdmitsNoOneAndKeepsItsBook(t *testing.T) {
	quota := func(name, value string) func(*v1alpha1.FluxSetup) {
		return func(s *v1alpha1.FluxSetup) {
			s.Spec.Quota.Resources = corev1.ResourceList{corev1.ResourceName(name): resource.MustParse(value)}
		}
	}
	tests := map[string]struct {
		change func(*v1alpha1.FluxSetup)
		want   string
	}{
		"negative": {quota("cpu", "-1"), `spec.quota.resources[cpu]: Invalid value: "-1": must be greater than or equal to 0`},
		"misspelt": {quota("gpu", "1"), `spec.quota.resources[gpu]: Invalid value: "gpu": pods can request cpu, memory, ` +
			`ephemeral-storage, hugepages-<size>, and other resources by their full names, such as nvidia.com/gpu`},
		"pods":         {quota("pods", "1"), `spec.quota.resources[pods]: Invalid value: "pods": the number of pods is limited by the field pods beside resources`},
		"miniClusters": {quota("miniClusters", "1"), `the number of MiniClusters is limited by the field miniClusters beside resources`},
		"pods, twice": {func(s *v1alpha1.FluxSetup) {
			quota("pods", "1")(s)
			podLimit(9)(s)
		}, `spec.quota.resources[pods]: Invalid value: "pods"`},
		"no name": {quota("a/b/c", "1"), `spec.quota.resources[a/b/c]: Invalid value: "a/b/c": `},
		"borrowing": {func(s *v1alpha1.FluxSetup) {
			s.Spec.BorrowingLimit = &v1alpha1.FluxQuota{Resources: corev1.ResourceList{"cpu": resource.MustParse("-2")}}
		}, `spec.borrowingLimit.resources[cpu]: Invalid value: "-2"`},
		"lending": {func(s *v1alpha1.FluxSetup) {
			s.Spec.LendingLimit = &v1alpha1.FluxQuota{Resources: corev1.ResourceList{"cpus": resource.MustParse("2")}}
		}, `spec.lendingLimit.resources[cpus]: Invalid value: "cpus"`},
		"selector": {func(s *v1alpha1.FluxSetup) {
			s.Spec.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}
		}, `spec.namespaceSelector.matchExpressions[0].operator: Invalid value: "Near"`},
		"selector of a limit": {func(s *v1alpha1.FluxSetup) {
			near := metav1.LabelSelectorRequirement{Key: "a", Operator: "Near"}
			s.Spec.PriorityLimits = []v1alpha1.FluxPriorityLimit{{}, {NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{near}}}}
		}, `spec.priorityLimits[1].namespaceSelector.matchExpressions[0].operator: Invalid value: "Near"`},
	}
	running := makeJob("a", 1, holding)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			setup := makeSetup("q", withReservations(running), tt.change)
			p := plan(t, setup, 10, running, makeJob("b", 2))
			require.Len(t, p.Events, 1)
			assert.Equal(t, v1alpha1.ReasonInvalidSpec, p.Events[0].Reason)
			assert.Zero(t, p.StatusCanWait)
			got := settle(t, setup, 10, running, makeJob("b", 2))
			assert.Equal(t, []string{"a"}, held(got))
			names := map[string]bool{}
			for _, u := range got.Status.Usage {
				assert.False(t, names[u.Name], "the API server refuses a status that has the usage of %s twice", u.Name)
				names[u.Name] = true
			}
			for kind, value := range map[string]metav1.ConditionStatus{events.ConditionReady: metav1.ConditionFalse, events.ConditionStalled: metav1.ConditionTrue} {
				c := condition(got, kind)
				assert.Equal(t, value, c.Status)
				assert.Equal(t, v1alpha1.ReasonInvalidSpec, c.Reason)
				assert.Contains(t, c.Message, tt.want)
			}
			mended := makeSetup("q")
			mended.Status = got.Status
			got = settle(t, mended, 20, running, makeJob("b", 2))
			assert.Equal(t, []string{"a", "b"}, held(got))
			assert.Equal(t, v1alpha1.ReasonActive, condition(got, events.ConditionReady).Reason)
			assert.Empty(t, condition(got, events.ConditionStalled).Type)
		})
	}
	for _, name := range []string{"cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "nvidia.com/gpu"} {
		assert.Equal(t, v1alpha1.ReasonActive, condition(settle(t, makeSetup("q", quota(name, "1")), 1), events.ConditionReady).Reason, name)
	}
}

func TestWhatIsWrittenLater(t *testing.T) {
	setup := settle(t, makeSetup("q", clusters(1)), 1, makeJob("a", 1))
	assert.Equal(t, []string{"a"}, held(setup))
	p := plan(t, setup, 2, makeJob("a", 1), makeJob("b", 2))
	require.NotNil(t, p.Status)
	assert.Equal(t, int32(1), p.Status.Status.PendingWorkloads)
	assert.Equal(t, statusDelay, p.StatusCanWait, "only counts and the line have changed")
	assert.Equal(t, at(2), *p.Status.Status.OldestPendingTime)

	again := makeJob("a", 1) // it has given its share back, and is admitted again in the same pass
	again.Status.Attempts = 1
	p = plan(t, setup, 3, again)
	require.NotNil(t, p.Status)
	assert.Equal(t, int32(2), p.Status.Status.Reservations[0].Attempt)
	assert.Zero(t, p.StatusCanWait, "the job waits for its reservation")

	held := makeSetup("q", func(s *v1alpha1.FluxSetup) { s.Spec.StopPolicy, s.Generation = v1alpha1.StopHold, 2 })
	held.Status = setup.Status
	p = plan(t, held, 3, makeJob("a", 1))
	assert.Zero(t, p.StatusCanWait)
	require.Len(t, p.Events, 1)
	assert.Equal(t, v1alpha1.ReasonStopped, p.Events[0].Reason)
}

func TestTheLineIsBounded(t *testing.T) {
	var jobs []client.Object
	for i := range 1234 {
		jobs = append(jobs, makeJob(fmt.Sprintf("job-%04d", i), i))
	}
	got := settle(t, makeSetup("q", clusters(0)), 10, jobs...)
	assert.Empty(t, got.Status.Queue, "they can never run")

	got = settle(t, makeSetup("q", clusters(1), withReservations(makeJob("running", 0, holding))), 10, append(jobs, makeJob("running", 0, holding))...)
	require.Len(t, got.Status.Queue, v1alpha1.MaxFluxQueueEntries)
	assert.Equal(t, "job-0099", got.Status.Queue[99].Name)
	var marks []string
	for _, m := range got.Status.QueuePositions {
		marks = append(marks, fmt.Sprint(m.Position, " ", m.Name))
	}
	assert.Equal(t, []string{"200 job-0199", "500 job-0499", "1000 job-0999"}, marks)
	assert.Equal(t, at(0), *got.Status.OldestPendingTime)
}

func TestReservationsAreBounded(t *testing.T) {
	var jobs []client.Object
	for i := range v1alpha1.MaxFluxReservations + 2 {
		jobs = append(jobs, makeJob(fmt.Sprintf("job-%04d", i), i))
	}
	got := settle(t, makeSetup("q"), 10, jobs...)
	assert.Len(t, got.Status.Reservations, v1alpha1.MaxFluxReservations)
	assert.Equal(t, []string{"job-3000: ReservationsFull", "job-3001: ReservationsFull"}, waiting(got))
	assert.Empty(t, got.Status.Usage, "no quota is limited")
	assert.Equal(t, v1alpha1.ReasonReservationsFull, condition(got, events.ConditionReady).Reason)
}

// Jobs with the longest names, and with the longest names of resources, are fewer. etcd accepts 1.5 MiB, with all marks of eviction.
func TestReservationsAreBoundedInBytes(t *testing.T) {
	resources := corev1.ResourceList{}
	for i := range 32 {
		domain := strings.Repeat(strings.Repeat("d", 60)+".", 3) + strings.Repeat("d", 50) + ".example.com"
		resources[corev1.ResourceName(fmt.Sprintf("%s/%063d", domain, i))] = resource.MustParse("1")
	}
	for name, tt := range map[string]struct {
		resources corev1.ResourceList
		min       int
	}{"many resources": {resources, 100}, "long names": {nil, 2000}} {
		t.Run(name, func(t *testing.T) {
			queue := strings.Repeat("q", 63)
			var jobs []client.Object
			for i := range v1alpha1.MaxFluxReservations {
				jobs = append(jobs, makeJob(fmt.Sprintf("job-%048d", i), i, inQueue(queue), func(j *v1alpha1.FluxJob) {
					j.Namespace, j.UID = strings.Repeat("n", 63), types.UID(fmt.Sprintf("%036d", i))
					j.Spec.Resources = &corev1.ResourceRequirements{Requests: tt.resources}
				}))
			}
			setup := settle(t, makeSetup(queue), 10, jobs...)
			assert.GreaterOrEqual(t, len(setup.Status.Reservations), tt.min)
			assert.Equal(t, v1alpha1.ReasonReservationsFull, condition(setup, events.ConditionReady).Reason)

			setup.Spec.StopPolicy, setup.Generation = v1alpha1.StopHoldAndDrain, 2
			setup = settle(t, setup, 11, jobs...)
			for i := range setup.Status.Reservations {
				require.NotNil(t, setup.Status.Reservations[i].Evicted)
			}
			text, err := json.Marshal(setup)
			require.NoError(t, err)
			assert.Less(t, len(text), 3<<19)
		})
	}
}

func TestASetupThatIsBeingDeletedDoesNothing(t *testing.T) {
	setup := makeSetup("q", func(s *v1alpha1.FluxSetup) { s.DeletionTimestamp = new(at(1)) })
	assert.Zero(t, plan(t, setup, 2, makeJob("a", 1)))
}
