package queuecmd

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/leader"
	"github.com/armature-dev/armature/cmd/armature/internal/output"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// waits returns a FluxJob that waits in queue q.
func waits(name, reason string, position *int32, age time.Duration) v1alpha1.FluxJob {
	return v1alpha1.FluxJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, CreationTimestamp: metav1.NewTime(now.Add(-age))},
		Status: v1alpha1.FluxJobStatus{Queue: "q", Position: position, Conditions: []metav1.Condition{{
			Type: v1alpha1.ConditionJobWaitingForResources, Status: "True", Reason: reason, Message: "because " + name,
		}}},
	}
}

func TestQueues(t *testing.T) {
	setup := v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Status: v1alpha1.FluxSetupStatus{
		Reservations: []v1alpha1.FluxReservation{{Namespace: "team", Name: "runs"}, {Namespace: "team", Name: "goes", Evicted: &v1alpha1.FluxEviction{Reason: "Preempted"}}},
		Queue:        []v1alpha1.FluxQueueEntry{{Namespace: "team", Name: "b", Reason: "WaitingForQuota", Resource: "cpu"}, {Namespace: "secret", Name: "x", Reason: "WaitingForQuota", Resource: "cpu"}},
	}}
	kueue := waits("kueue", "Queued", nil, time.Hour)
	kueue.Labels = map[string]string{v1alpha1.LabelKueueQueue: "q"}
	lost := waits("lost", v1alpha1.ReasonQueueNotFound, nil, time.Minute)
	lost.Status.Queue = "nosuch"
	jobs := []v1alpha1.FluxJob{
		waits("far", "Queued", ptr.To[int32](200), time.Hour), waits("large", v1alpha1.ReasonExceedsMaximumQuota, nil, 2*time.Hour), kueue, lost,
		waits("b", "Queued", ptr.To[int32](7), time.Hour),
		{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "runs"}, Status: v1alpha1.FluxJobStatus{State: v1alpha1.FluxJobRunning}},
	}
	all := newQueues([]v1alpha1.FluxSetup{setup}, jobs, true)
	require.Len(t, all, 2)
	assert.Equal(t, "nosuch", all[0].Name)
	assert.True(t, all[0].Missing)

	q := all[1]
	assert.Equal(t, "Running", q.Admitted[0].State)
	assert.Equal(t, "Preempted", q.Admitted[1].State)
	var names []string
	for _, w := range q.Waiting {
		names = append(names, w.Namespace+"/"+w.Name)
	}
	assert.Equal(t, []string{"team/b", "secret/x", "team/far", "team/large"}, names, "the line, those behind it, those outside of it")
	assert.Equal(t, "WaitingForQuota", q.Waiting[0].Reason, "the line knows best")
	assert.Equal(t, int32(1), q.Waiting[0].Position)
	assert.Equal(t, "insufficient free quota of cpu", q.Waiting[1].Message, "of a job that may not be read the line alone tells")

	assert.Len(t, newQueues([]v1alpha1.FluxSetup{setup}, jobs, false), 1)
}

// Who manages a queue is shown to those who want to know more.
func TestTheManagerOfAQueueIsShownIfWide(t *testing.T) {
	setup := v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Status: v1alpha1.FluxSetupStatus{
		Manager: &v1alpha1.FluxSetupManager{Name: "ops/a", Namespaces: []string{"a", "b"}}}}
	for wide, want := range map[bool]string{
		false: "FluxSetup/q  no manager has reconciled it  0 admitted, 0 waiting\n",
		true:  "FluxSetup/q  no manager has reconciled it  0 admitted, 0 waiting\n  managed by ops/a, which watches namespaces a, b\n",
	} {
		var b strings.Builder
		describe(&b, newQueues([]v1alpha1.FluxSetup{setup}, nil, false)[0], wide, now, output.PaintFor(&b))
		assert.Equal(t, want, b.String())
	}
}

// Without a manager, new jobs have no status. They wait too, and the command says what is missing.
func TestAQueueWithoutAManager(t *testing.T) {
	setup := v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: "q"}}
	job := v1alpha1.FluxJob{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "new"}, Spec: v1alpha1.FluxJobSpec{Queue: "q"}}
	setups, jobs := []v1alpha1.FluxSetup{setup}, []v1alpha1.FluxJob{job}
	waiting := newQueues(setups, jobs, false)[0].Waiting
	require.Len(t, waiting, 1)
	assert.Equal(t, "NotReconciled: no manager has reconciled it", waiting[0].Reason+why(waiting[0].Message))
	job.Spec.Suspend = true
	assert.Empty(t, WaitsIn(&job))

	manager := leader.Manager{Namespace: "ops", Lease: "armature", Holder: "pod-1", Renewed: now.Add(-time.Minute), Duration: 15 * time.Second,
		Scope: leader.Scope{Operators: []string{"fluxjob"}}}
	gone := func() string {
		var b strings.Builder
		writeGone(&b, setups, jobs, []leader.Manager{manager}, now)
		return b.String()
	}
	assert.Equal(t, "FluxSetup/q: no manager runs, so no job is admitted: the lease ops/armature was last renewed 1m0s ago by pod-1\n", gone())
	at := metav1.NewTime(now.Add(-time.Second))
	jobs[0].ManagedFields = []metav1.ManagedFieldsEntry{{Subresource: "status", Time: &at}}
	assert.Empty(t, gone(), "a manager without a lease works on them")
	jobs = append(jobs, *jobs[0].DeepCopy())
	jobs[0].ManagedFields = nil
	jobs[1].Spec.Queue = "other"
	assert.NotEmpty(t, gone(), "the job of another queue says nothing")
	jobs = jobs[:1]
	jobs[0].ManagedFields = nil
	manager.Renewed = now
	assert.Empty(t, gone())
	manager.Renewed = now.Add(-time.Minute)
	jobs = nil
	assert.Empty(t, gone(), "nothing waits for it")
}

// A paused queue admits no job, whatever its status says.
func TestAPausedQueue(t *testing.T) {
	setup := v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: "q", Annotations: map[string]string{"armature.dev/paused": "true"}}}
	setup.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonActive}}
	var b strings.Builder
	describe(&b, newQueues([]v1alpha1.FluxSetup{setup}, nil, false)[0], false, now, output.Paint(false))
	assert.Equal(t, "FluxSetup/q  Active, paused  0 admitted, 0 waiting\n", b.String())
}

// The colour says at a glance whether a queue admits jobs.
func TestTheColourOfAQueue(t *testing.T) {
	for reason, colour := range map[string]string{v1alpha1.ReasonActive: output.Good, v1alpha1.ReasonStopped: output.Bad} {
		setup := v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: "q"}}
		setup.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: reason}}
		var b strings.Builder
		describe(&b, newQueues([]v1alpha1.FluxSetup{setup}, nil, false)[0], false, now, output.Paint(true))
		assert.Contains(t, b.String(), output.Paint(true).In(colour, reason))
	}
}
