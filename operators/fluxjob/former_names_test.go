package fluxjob

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
)

// asWrittenBefore returns an object with the status that an earlier version would have written, as the API server returns it.
func asWrittenBefore[T any](t *testing.T, obj *T) *T {
	t.Helper()
	text, err := json.Marshal(obj)
	require.NoError(t, err)
	former := strings.NewReplacer(`"attempts":`, `"runs":`, `"attempt":`, `"run":`, `"queue":[`, `"line":[`,
		`"pendingWorkloads":`, `"pending":`, `"admittedWorkloads":`, `"admitted":`, `"maximum":`, `"largest":`).Replace(string(text))
	require.NotEqual(t, string(text), former)
	decoded := new(T)
	require.NoError(t, json.Unmarshal([]byte(former), decoded))
	return decoded
}

// requireNewNames fails if a status still has fields under their former names.
func requireNewNames(t *testing.T, obj any) {
	t.Helper()
	text, err := json.Marshal(obj)
	require.NoError(t, err)
	require.NotRegexp(t, `"(runs?|line|largest)":`, string(text))
}

// A job that an earlier version admitted goes on under its reservation.
func TestAJobThatAnEarlierVersionRuns(t *testing.T) {
	s := running(t)
	s.job = asWrittenBefore(t, s.job)
	s.setups = []client.Object{asWrittenBefore(t, setupWith(s.job))}
	assert.Empty(t, s.step(8))
	assert.NotNil(t, s.job.Status.Admission)
	assert.Equal(t, int32(1), s.job.Status.Attempts)
	assert.Empty(t, s.plan.Edits, "the MiniCluster stays as it is")
	requireNewNames(t, s.job)
	assert.Nil(t, s.plan.Delete)

	setup := setupWith(s.job)
	setup.Status.Reservations[0].Evicted = &v1alpha1.FluxEviction{Reason: v1alpha1.ReasonPreempted, Time: at(9)}
	s.setups = []client.Object{asWrittenBefore(t, setup)}
	assert.Equal(t, []string{v1alpha1.ReasonPreempted}, s.step(9), "the eviction of this attempt")
}

// setupWith returns the setup q with the reservation that a job holds.
func setupWith(job *v1alpha1.FluxJob) *v1alpha1.FluxSetup {
	setup := offer(job)
	setup.Status.Reservations[0].Attempt = job.Status.Attempts
	return setup
}

// A job accepts the reservation that an earlier version made for its second attempt.
func TestAReservationOfAnEarlierVersion(t *testing.T) {
	job := makeJob("a", 1)
	job.Status.Queue, job.Status.Attempts = "q", 1
	s := &fixture{t: t, job: asWrittenBefore(t, job), setups: []client.Object{asWrittenBefore(t, offer(job))}}
	assert.Equal(t, []string{v1alpha1.ReasonAdmitted}, s.step(6))
	assert.Equal(t, int32(2), s.job.Status.Attempts)
}

// A job waits at its position until the queue's status is written under the new names, and isn't called too large.
func TestAJobThatWaitsInAQueueOfAnEarlierVersion(t *testing.T) {
	setup := makeSetup("q", clusters(1))
	setup.Status.Queue = []v1alpha1.FluxQueueEntry{{Namespace: "default", Name: "first"}, {Namespace: "default", Name: "a"}}
	setup.Status.Usage = []v1alpha1.FluxResourceUsage{{Name: "miniClusters", Maximum: resource.MustParse("1")}}
	s := &fixture{t: t, job: makeJob("a", 1), setups: []client.Object{asWrittenBefore(t, setup)}}
	assert.Empty(t, s.step(6))
	assert.Equal(t, ptr.To[int32](2), s.job.Status.Position)
	assert.Equal(t, v1alpha1.FluxJobWaiting, s.job.Status.State)
	assert.Equal(t, "True Queued", s.is(v1alpha1.ConditionJobWaitingForResources))
}

// The queue keeps the reservations of an earlier version, gives none of their quota again, and lists the waiting jobs.
func TestAQueueOfAnEarlierVersion(t *testing.T) {
	s := running(t)
	setup := asWrittenBefore(t, setupWith(s.job))
	waits := makeJob("b", 2)
	watched := []client.Object{setup, asWrittenBefore(t, s.job), waits, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}}
	plan := admission.Plan(setup, buildertest.WithWatched(buildertest.NewView(at(9).Time), watched...))
	require.NotNil(t, plan.Status)
	status := plan.Status.Status
	require.Len(t, status.Reservations, 1)
	assert.Equal(t, int32(1), status.Reservations[0].Attempt)
	assert.Equal(t, []v1alpha1.FluxQueueEntry{{Namespace: "default", Name: "b", Reason: v1alpha1.ReasonWaitingForQuota, Resource: "miniClusters"}}, status.Queue)
	assert.Equal(t, int32(1), status.PendingWorkloads)
	requireNewNames(t, plan.Status)
}
