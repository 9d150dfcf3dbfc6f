package admission

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

func endsAfter(seconds int64) func(*v1alpha1.FluxJob) {
	return func(j *v1alpha1.FluxJob) { j.Spec.DeadlineSeconds = &seconds }
}

func ofSize(n int32) func(*v1alpha1.FluxJob) {
	return func(j *v1alpha1.FluxJob) { j.Spec.Size = &n }
}

// byName are jobs as Forecasts takes them.
func byName(jobs ...*v1alpha1.FluxJob) map[types.NamespacedName]*v1alpha1.FluxJob {
	all := map[types.NamespacedName]*v1alpha1.FluxJob{}
	for _, job := range jobs {
		all[client.ObjectKeyFromObject(job)] = job
	}
	return all
}

func TestForecasts(t *testing.T) {
	strict := func(s *v1alpha1.FluxSetup) { s.Spec.QueueingStrategy = v1alpha1.StrictFIFO }
	stopped := func(s *v1alpha1.FluxSetup) { s.Spec.StopPolicy = v1alpha1.StopHold }
	running, idle := makeJob("running", 0, endsAfter(100), holding), makeJob("idle", 0, endsAfter(100), holding, paused)
	endless, overdue, over := makeJob("endless", 0, holding), makeJob("overdue", 0, endsAfter(5), holding), makeJob("over", 0, holding)
	tests := map[string]struct {
		setup *v1alpha1.FluxSetup
		jobs  []*v1alpha1.FluxJob
		want  map[string]string
	}{
		"each job follows the one before it": {
			makeSetup("q", clusters(1), withReservations(running)),
			[]*v1alpha1.FluxJob{running, makeJob("a", 1, endsAfter(20)), makeJob("b", 2, endsAfter(30)), makeJob("c", 3)},
			map[string]string{"a": "100", "b": "120", "c": "150"},
		},
		"a job that fits overtakes": {
			makeSetup("q", podLimit(3), withReservations(running)),
			[]*v1alpha1.FluxJob{running, makeJob("large", 1, endsAfter(20), ofSize(3)), makeJob("small", 2, endsAfter(500), ofSize(1))},
			map[string]string{"large": "510"}, // the small one was admitted at once
		},
		"nobody overtakes in a strict queue": {
			makeSetup("q", podLimit(3), strict, withReservations(running)),
			[]*v1alpha1.FluxJob{running, makeJob("large", 1, endsAfter(20), ofSize(3)), makeJob("small", 2, ofSize(1))},
			map[string]string{"large": "100", "small": "120"},
		},
		"behind a job without a deadline": {
			makeSetup("q", clusters(1), withReservations(running)),
			[]*v1alpha1.FluxJob{running, makeJob("a", 1), makeJob("b", 2)},
			map[string]string{"a": "100", "b": "job default/a has no deadlineSeconds"},
		},
		"with jobs that never end": {
			makeSetup("q", clusters(1), withReservations(endless)), []*v1alpha1.FluxJob{endless, makeJob("a", 1)},
			map[string]string{"a": "job default/endless has no deadlineSeconds"},
		},
		"behind a paused job, whatever its deadline": {
			makeSetup("q", clusters(1), withReservations(idle)), []*v1alpha1.FluxJob{idle, makeJob("a", 1)},
			map[string]string{"a": "job default/idle is paused and keeps its quota"},
		},
		"stopped": {
			makeSetup("q", clusters(1), stopped, withReservations(running)), []*v1alpha1.FluxJob{running, makeJob("a", 1)},
			map[string]string{"a": "queue q admits no job"},
		},
		"after a deadline that has passed": { // the manager was down, or a pod terminates
			makeSetup("q", clusters(1), withReservations(overdue)), []*v1alpha1.FluxJob{overdue, makeJob("a", 1, endsAfter(20)), makeJob("b", 2)},
			map[string]string{"a": "10", "b": "30"},
		},
		"after a job that has ended": {
			makeSetup("q", clusters(1), withReservations(over)), []*v1alpha1.FluxJob{over, makeJob("a", 1)},
			map[string]string{"a": "10"},
		},
		"by priority": {
			makeSetup("q", clusters(1), upTo(9), withReservations(running)),
			[]*v1alpha1.FluxJob{running, makeJob("low", 1, endsAfter(20)), makeJob("high", 2, endsAfter(30), ofPriority(5))},
			map[string]string{"high": "100", "low": "130"},
		},
		"a deadline beyond all time": {
			makeSetup("q", clusters(1), withReservations(running)),
			[]*v1alpha1.FluxJob{running, makeJob("a", 1, endsAfter(math.MaxInt64)), makeJob("b", 2)},
			map[string]string{"a": "100", "b": fmt.Sprint(100.0 + lifecycle.MaxSeconds)},
		},
		"after a backoff": {
			makeSetup("q", clusters(1)),
			[]*v1alpha1.FluxJob{makeJob("a", 1, func(j *v1alpha1.FluxJob) { j.Status.RequeueTime = new(at(300)) })},
			map[string]string{"a": "300"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var others []client.Object
			for _, job := range tt.jobs {
				others = append(others, job)
			}
			setup := settle(t, tt.setup, 10, others...)
			over.Status.CompletionTime = new(at(9)) // its queue hasn't noticed yet
			got := map[string]string{}
			known := byName(tt.jobs...)
			reduced := map[types.NamespacedName]*v1alpha1.FluxJob{}
			for key, job := range known {
				reduced[key] = Reduced(job)
			}
			forecasts := Forecasts([]*v1alpha1.FluxSetup{setup}, known, at(10).Time)
			assert.Equal(t, forecasts, Forecasts([]*v1alpha1.FluxSetup{setup}, reduced, at(10).Time), "of reduced jobs")
			for key, f := range forecasts {
				got[key.Name] = f.Unknown
				if !f.Admitted.IsZero() {
					got[key.Name] = fmt.Sprint(f.Admitted.Sub(at(0).Time).Seconds())
				}
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestNothingIsKnownBehindAJobThatCannotBeRead(t *testing.T) {
	running := makeJob("running", 0, endsAfter(100), holding)
	jobs := []*v1alpha1.FluxJob{running, makeJob("a", 1, endsAfter(20)), makeJob("b", 2, endsAfter(20)), makeJob("c", 3)}
	setup := settle(t, makeSetup("q", clusters(1), withReservations(running)), 10, jobs[0], jobs[1], jobs[2], jobs[3])
	got := Forecasts([]*v1alpha1.FluxSetup{setup}, byName(jobs[0], jobs[1], jobs[3]), at(10).Time)
	key := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: "default", Name: name} }
	assert.Equal(t, at(100).Time, got[key("a")].Admitted)
	assert.Equal(t, "there is a job in the queue before it that you can't read", got[key("c")].Unknown)
	got = Forecasts([]*v1alpha1.FluxSetup{setup}, byName(jobs[1:]...), at(10).Time)
	assert.Equal(t, "the deadline of job default/running isn't known, because you can't read it", got[key("a")].Unknown)
}

func TestForecastsSayWhyNothingIsKnown(t *testing.T) {
	running, waits := makeJob("running", 0, endsAfter(100), holding), makeJob("waits", 1, ofSize(3))
	queued := func(s *v1alpha1.FluxSetup) {
		s.Status.Queue = []v1alpha1.FluxQueueEntry{{Namespace: "default", Name: "waits"}}
	}
	full := func(s *v1alpha1.FluxSetup) {
		s.Status.Reservations = slices.Repeat([]v1alpha1.FluxReservation{{Namespace: "default", Name: "hidden"}}, v1alpha1.MaxFluxReservations)
	}
	recreated := running.DeepCopy()
	recreated.UID = "another"
	tests := map[string]struct {
		setups []*v1alpha1.FluxSetup
		job    *v1alpha1.FluxJob
		want   string
	}{
		"it is larger than the quota, which was lowered": {
			[]*v1alpha1.FluxSetup{makeSetup("q", podLimit(2), queued)}, running, "it needs more than queue q can give",
		},
		"as many run as a status can record": {
			[]*v1alpha1.FluxSetup{makeSetup("q", queued, full)}, running,
			"the deadline of job default/hidden isn't known, because you can't read it, and the ends of others aren't known either: 2999",
		},
		"another job of the name": {
			[]*v1alpha1.FluxSetup{makeSetup("q", clusters(1), queued, withReservations(running))}, recreated,
			"job default/running was deleted and still holds quota",
		},
		"several don't end": {
			[]*v1alpha1.FluxSetup{makeSetup("q", clusters(2), queued, withReservations(makeJob("x", 0), makeJob("y", 0)))}, running,
			"the deadline of job default/x isn't known, because you can't read it, and the ends of others aren't known either: 1",
		},
		"the queue lends to one with a job that can't be read": {
			[]*v1alpha1.FluxSetup{
				makeSetup("p", clusters(1), inCohort("c"), func(s *v1alpha1.FluxSetup) {
					s.Status.Queue = []v1alpha1.FluxQueueEntry{{Namespace: "secret", Name: "hidden"}}
				}),
				makeSetup("q", clusters(1), inCohort("c"), queued),
			}, running, "there is a job in the cohort's queues that you can't read",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := Forecasts(tt.setups, byName(tt.job, waits), at(10).Time)
			assert.Equal(t, Forecast{Unknown: tt.want}, got[client.ObjectKeyFromObject(waits)])
		})
	}
}

func TestForecastsBehindAFullRecord(t *testing.T) {
	setup, known := behindMany(v1alpha1.MaxFluxReservations, 2)
	setup.Spec.Quota = v1alpha1.FluxQuota{}
	got := Forecasts([]*v1alpha1.FluxSetup{setup}, known, at(500).Time)
	for i, second := range []int{10_000, 10_002} { // each job ends two seconds after the one before it
		assert.Equal(t, Forecast{Admitted: at(second).Time}, got[types.NamespacedName{Namespace: "default", Name: fmt.Sprint("waiting-", i)}])
	}
}

// A viewer can't keep the server busy, whatever is in the cluster: the work of a simulation is bounded.
func TestForecastsAreBounded(t *testing.T) {
	manyHolders, known := behindMany(v1alpha1.MaxFluxReservations-1, 100)
	known[types.NamespacedName{Namespace: "default", Name: "waiting-99"}].Spec.Size = ptr.To[int32](6000) // when nearly all have ended
	manyHolders.Spec.Quota = v1alpha1.FluxQuota{Pods: ptr.To[int32](6000)}
	got := Forecasts([]*v1alpha1.FluxSetup{manyHolders}, known, at(500).Time)
	require.Len(t, got, 100)
	assert.False(t, got[types.NamespacedName{Namespace: "default", Name: "waiting-0"}].Admitted.IsZero(), "the first are forecast")
	assert.Equal(t, tooMany, got[types.NamespacedName{Namespace: "default", Name: "waiting-99"}].Unknown)

	var setups []*v1alpha1.FluxSetup
	for i := range 1000 {
		setup := *manyHolders
		setup.Name, setup.Spec.Cohort = fmt.Sprint("q", i), "c"
		setup.Spec.Quota.Resources = corev1.ResourceList{corev1.ResourceName(fmt.Sprint("example.com/", i)): resource.MustParse("1")}
		setups = append(setups, &setup)
	}
	for _, f := range Forecasts(setups, known, at(500).Time) {
		require.Equal(t, tooMany, f.Unknown)
	}
}

// What is forecast comes true, if each job ends at its deadline.
func TestForecastsComeTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var setups []*v1alpha1.FluxSetup
		for i := range rapid.IntRange(1, 2).Draw(t, "setups") {
			setup := makeSetup(fmt.Sprint("q", i), podLimit(rapid.Int32Range(1, 6).Draw(t, "quota")), inCohort("c"), upTo(3))
			setup.Spec.QueueingStrategy = rapid.SampledFrom([]v1alpha1.QueueingStrategy{v1alpha1.StrictFIFO, v1alpha1.BestEffortFIFO}).Draw(t, "strategy")
			setups = append(setups, setup)
		}
		var jobs []*v1alpha1.FluxJob
		for i := range rapid.IntRange(1, 12).Draw(t, "jobs") {
			job := makeJob(fmt.Sprintf("j%02d", i), i, ofSize(rapid.Int32Range(1, 4).Draw(t, "size")),
				inQueue(rapid.SampledFrom(setups).Draw(t, "queue").Name), ofPriority(rapid.Int32Range(0, 3).Draw(t, "priority")))
			if rapid.IntRange(0, 5).Draw(t, "has a deadline") > 0 {
				job.Spec.DeadlineSeconds = new(rapid.Int64Range(1, 50).Draw(t, "deadline"))
			}
			jobs = append(jobs, job)
		}
		known := byName(jobs...)
		setups = settleAll(t, setups, 100, jobs)
		forecasts := Forecasts(setups, known, at(100).Time)
		admitted := map[types.NamespacedName]time.Time{}
		for {
			var ends []time.Time
			for _, setup := range setups {
				for _, r := range setup.Status.Reservations {
					key := types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
					admitted[key] = r.Time.Time
					if end := Deadline(known[key], r.Time.Time); !end.IsZero() {
						ends = append(ends, end)
					}
				}
			}
			if len(ends) == 0 {
				break
			}
			now := slices.MinFunc(ends, time.Time.Compare)
			second := int(now.Sub(at(0).Time).Seconds())
			for i, job := range jobs {
				since, runs := admitted[client.ObjectKeyFromObject(job)]
				if end := Deadline(job, since); runs && !end.IsZero() && !end.After(now) {
					jobs[i] = job.DeepCopy()
					jobs[i].Status.Attempts, jobs[i].Status.CompletionTime = 1, &metav1.Time{Time: end}
				}
			}
			setups = settleAll(t, setups, second, jobs)
		}
		for key, f := range forecasts {
			require.True(t, f.Admitted.Equal(admitted[key]), "%s: forecast %s %s, admitted %s", key, f.Admitted, f.Unknown, admitted[key])
		}
	})
}

// settleAll runs the plans of setups until none changes anything.
func settleAll(t *rapid.T, setups []*v1alpha1.FluxSetup, second int, jobs []*v1alpha1.FluxJob) []*v1alpha1.FluxSetup {
	setups = slices.Clone(setups)
	for range 20 {
		changed := false
		for i := range setups {
			var all []client.Object
			for _, s := range setups {
				all = append(all, s)
			}
			for _, j := range jobs {
				all = append(all, j)
			}
			if p := Plan(setups[i], buildertest.WithWatched(buildertest.NewView(at(second).Time), all...)); p.Status != nil {
				after := setups[i].DeepCopy()
				after.Status = *p.Status.Status.DeepCopy()
				setups[i], changed = after, true
			}
		}
		if !changed {
			return setups
		}
	}
	t.Fatal("the plans say something new each time")
	return nil
}

// behindMany is a queue with jobs that hold all of its quota and end one after the other, and jobs that wait.
func behindMany(holders, waiters int) (*v1alpha1.FluxSetup, map[types.NamespacedName]*v1alpha1.FluxJob) {
	setup := makeSetup("q", clusters(int32(holders))) //nolint:gosec // a few thousand
	var jobs []*v1alpha1.FluxJob
	for i := range holders {
		job := makeJob(fmt.Sprint("running-", i), i, endsAfter(int64(10_000+i)), holding)
		jobs, setup.Status.Reservations = append(jobs, job), append(setup.Status.Reservations, reserved(job))
	}
	for i := range waiters {
		job := makeJob(fmt.Sprint("waiting-", i), i, endsAfter(int64(10_000+i)))
		jobs = append(jobs, job)
		setup.Status.Queue = append(setup.Status.Queue, v1alpha1.FluxQueueEntry{Namespace: job.Namespace, Name: job.Name})
	}
	return setup, byName(jobs...)
}

// BenchmarkForecasts is of a full status.queue behind running jobs, up to as many as a status can record.
func BenchmarkForecasts(b *testing.B) {
	for _, holders := range []int{100, 1000, v1alpha1.MaxFluxReservations - 1} {
		setup, known := behindMany(holders, 100)
		b.Run(fmt.Sprintf("holders=%d", holders), func(b *testing.B) {
			unknown := 0
			for b.Loop() {
				unknown = 0
				for _, f := range Forecasts([]*v1alpha1.FluxSetup{setup}, known, at(500).Time) {
					if f.Unknown != "" {
						unknown++
					}
				}
			}
			b.ReportMetric(float64(unknown), "unknown")
		})
	}
}
