package fluxjob

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/fluxjob/internal/needs"
)

func at(seconds int) metav1.Time {
	return metav1.NewTime(buildertest.Epoch.Add(time.Duration(seconds) * time.Second))
}

// fixture runs plans on a job, one after another, and keeps the status between them.
type fixture struct {
	t        *testing.T
	job      *v1alpha1.FluxJob
	children []client.Object // the MiniCluster and its Job
	setups   []client.Object // and the namespace
	plan     builder.Plan[*v1alpha1.FluxJob]
}

// step runs the plan at a time, and returns the reasons of its events.
func (s *fixture) step(second int) []string {
	s.t.Helper()
	before := s.job.DeepCopy()
	s.plan = Plan(s.job, buildertest.WithWatched(buildertest.NewView(at(second).Time, s.children...), s.setups...))
	require.Equal(s.t, before, s.job, "the job was changed")
	if s.plan.Status != nil {
		s.job = s.job.DeepCopy()
		s.job.Status = *s.plan.Status.Status.DeepCopy()
		again := Plan(s.job, buildertest.WithWatched(buildertest.NewView(at(second).Time, s.children...), s.setups...))
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
func (s *fixture) is(kind string) string {
	c := meta.FindStatusCondition(s.job.Status.Conditions, kind)
	if c == nil {
		return ""
	}
	return string(c.Status) + " " + c.Reason
}

func (s *fixture) message(kind string) string {
	if c := meta.FindStatusCondition(s.job.Status.Conditions, kind); c != nil {
		return c.Message
	}
	return ""
}

// offer returns the setup q with a reservation for the job's next run.
func offer(job *v1alpha1.FluxJob) *v1alpha1.FluxSetup {
	setup := makeSetup("q", clusters(1))
	setup.Status.Reservations = []v1alpha1.FluxReservation{{
		Namespace: job.Namespace, Name: job.Name, UID: job.UID, Attempt: job.Status.Attempts + 1, Time: at(5), Generation: 1, Size: 2, Pods: 2,
	}}
	return setup
}

// clusterOf returns the MiniCluster of a job, with true conditions.
func clusterOf(job *v1alpha1.FluxJob, state v1alpha1.MiniClusterState, conditions ...string) *v1alpha1.MiniCluster {
	held := job.Status.Admission
	if held == nil {
		held = &v1alpha1.FluxAdmission{Queue: "q", Size: 2}
	}
	c := (&pass{job: job}).render(held)
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
	job.Spec.Suspend = new(true)
	job.Status.Terminating = &terminating
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobSuspended, Status: corev1.ConditionTrue}}
	return job
}

// admitted returns a fixture of the job a, which has accepted its share and waits for its MiniCluster.
func admitted(t *testing.T, change ...func(*v1alpha1.FluxJobSpec)) *fixture {
	job := makeJob("a", 1, change...)
	s := &fixture{t: t, job: job, setups: []client.Object{offer(job)}}
	require.Contains(t, s.step(5), v1alpha1.ReasonAdmitted)
	return s
}

// admit runs the plan until the job is admitted by its queue, Kueue's or a FluxSetup's, which has a reservation for it.
func (s *fixture) admit(second int) {
	s.t.Helper()
	for range 2 { // the first one may move it to the queue
		if name := needs.Queue(s.job); name != "" {
			setup := offer(s.job)
			setup.Name = name
			s.setups = []client.Object{setup}
		}
		s.step(second)
		if s.job.Status.Admission != nil {
			return
		}
	}
	require.Fail(s.t, "the job isn't admitted")
}

// running returns a fixture of the job a, which runs.
func running(t *testing.T, change ...func(*v1alpha1.FluxJobSpec)) *fixture {
	s := admitted(t, change...)
	s.children = []client.Object{clusterOf(s.job, v1alpha1.MiniClusterStateRunning, v1alpha1.MiniClusterPodsReady, v1alpha1.MiniClusterRunning), jobOf(2)}
	require.Equal(t, []string{v1alpha1.ReasonRunning}, s.step(7))
	require.Equal(t, v1alpha1.FluxJobRunning, s.job.Status.State)
	return s
}
