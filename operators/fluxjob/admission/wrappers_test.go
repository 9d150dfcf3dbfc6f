package admission

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/internal/wellknown"
)

var epoch = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func at(seconds int) metav1.Time {
	return metav1.NewTime(epoch.Add(time.Duration(seconds) * time.Second))
}

// makeSetup returns a setup of a manager that sees the whole cluster.
func makeSetup(name string, change ...func(*v1alpha1.FluxSetup)) *v1alpha1.FluxSetup {
	s := &v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name + "-uid"), Generation: 1}}
	s.Status.Manager = Manager{}.record()
	for _, f := range change {
		f(s)
	}
	return s
}

func clusters(n int32) func(*v1alpha1.FluxSetup) {
	return func(s *v1alpha1.FluxSetup) { s.Spec.Quota.MiniClusters = &n }
}

func podLimit(n int32) func(*v1alpha1.FluxSetup) {
	return func(s *v1alpha1.FluxSetup) { s.Spec.Quota.Pods = &n }
}

func cpus(n string) func(*v1alpha1.FluxSetup) {
	return func(s *v1alpha1.FluxSetup) {
		s.Spec.Quota.Resources = corev1.ResourceList{"cpu": resource.MustParse(n)}
	}
}

func inCohort(name string) func(*v1alpha1.FluxSetup) {
	return func(s *v1alpha1.FluxSetup) { s.Spec.Cohort = name }
}

func preempting(s *v1alpha1.FluxSetup) { s.Spec.Preemption = v1alpha1.PreemptionLowerPriority }

// upTo lets jobs of all namespaces have a priority of as much.
func upTo(most int32) func(*v1alpha1.FluxSetup) {
	return func(s *v1alpha1.FluxSetup) { s.Spec.PriorityLimits = []v1alpha1.FluxPriorityLimit{{Max: most}} }
}

// makeJob returns a job of queue q that needs 2 pods of 1 cpu each, and was created so many seconds after the epoch.
func makeJob(name string, second int, change ...func(*v1alpha1.FluxJob)) *v1alpha1.FluxJob {
	job := &v1alpha1.FluxJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name + "-uid"), Generation: 1, CreationTimestamp: at(second)},
		Spec: v1alpha1.FluxJobSpec{
			Image: "busybox:1.28", Size: ptr.To[int32](2), Queue: "q",
			Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}},
		},
	}
	for _, f := range change {
		f(job)
	}
	return job
}

func inQueue(name string) func(*v1alpha1.FluxJob) {
	return func(j *v1alpha1.FluxJob) { j.Spec.Queue = name }
}

func ofPriority(n int32) func(*v1alpha1.FluxJob) {
	return func(j *v1alpha1.FluxJob) { j.Spec.Priority = &n }
}

func paused(job *v1alpha1.FluxJob) {
	job.Annotations = map[string]string{wellknown.AnnotationPaused: "true"}
}

// holding gives a job what it needs.
func holding(job *v1alpha1.FluxJob) {
	job.Status.Attempts++
	job.Status.Admission = &v1alpha1.FluxAdmission{
		Queue: job.Spec.Queue, Time: job.CreationTimestamp, Generation: job.Generation, Size: 2, Pods: 2,
		Resources: corev1.ResourceList{"cpu": resource.MustParse("2")},
	}
}

// reserved is the reservation that belongs to a job's present run, or the next if it holds nothing.
func reserved(job *v1alpha1.FluxJob) v1alpha1.FluxReservation {
	run := job.Status.Attempts
	if job.Status.Admission == nil {
		run++
	}
	return v1alpha1.FluxReservation{
		Namespace: job.Namespace, Name: job.Name, UID: job.UID, Attempt: run, Time: job.CreationTimestamp, Generation: job.Generation,
		Size: 2, Pods: 2, Resources: corev1.ResourceList{"cpu": resource.MustParse("2")},
	}
}

func withReservations(jobs ...*v1alpha1.FluxJob) func(*v1alpha1.FluxSetup) {
	return func(s *v1alpha1.FluxSetup) {
		for _, job := range jobs {
			s.Status.Reservations = append(s.Status.Reservations, reserved(job))
		}
	}
}

// plan runs a setup's plan at a time, in view of it and other objects.
func plan(t *testing.T, setup *v1alpha1.FluxSetup, second int, others ...client.Object) builder.Plan[*v1alpha1.FluxSetup] {
	t.Helper()
	var before []client.Object
	for _, o := range append(others, setup) {
		before = append(before, o.DeepCopyObject().(client.Object))
	}
	p := Plan(setup, buildertest.WithWatched(buildertest.NewView(at(second).Time), append(others, setup)...))
	for i, o := range append(others, setup) {
		require.Equal(t, before[i], o, "something was changed that is shared")
	}
	require.Empty(t, p.Children)
	return p
}

// settle runs a setup's plan until it says nothing new, and returns the setup.
func settle(t *testing.T, setup *v1alpha1.FluxSetup, second int, others ...client.Object) *v1alpha1.FluxSetup {
	t.Helper()
	for range 5 {
		p := plan(t, setup, second, others...)
		if p.Status == nil {
			return setup
		}
		setup = setup.DeepCopy()
		setup.Status = *p.Status.Status.DeepCopy()
	}
	require.Fail(t, "the plan says something new each time")
	return nil
}

// held returns the names of those that hold a reservation; those that are to give it back in brackets.
func held(s *v1alpha1.FluxSetup) []string {
	var names []string
	for _, r := range s.Status.Reservations {
		name := r.Name
		if r.Evicted != nil {
			name = fmt.Sprintf("(%s: %s)", r.Name, r.Evicted.Reason)
		}
		names = append(names, name)
	}
	return names
}

// waiting returns the line: the names and why they wait.
func waiting(s *v1alpha1.FluxSetup) []string {
	var names []string
	for _, place := range s.Status.Queue {
		text := place.Name + ": " + place.Reason
		if place.Resource != "" {
			text += " " + place.Resource
		}
		names = append(names, text)
	}
	return names
}

func condition(s *v1alpha1.FluxSetup, kind string) metav1.Condition {
	if c := meta.FindStatusCondition(s.Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}
