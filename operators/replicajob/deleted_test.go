package replicajob

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/operators/internal/outcome"
)

// endedAt is a pod whose container exited with 0.
func endedAt(ended time.Time) *corev1.Pod {
	return &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodSucceeded, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(ended)}},
	}}}}
}

// A program that is told to stop, by a drained node or a deletion by hand, often exits with 0. Its work isn't done.
func TestAPodThatEndsBecauseItIsDeletedHasNotSucceeded(t *testing.T) {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for after, want := range map[time.Duration]state{-time.Second: succeeded, 2 * time.Second: terminating} {
		pod := endedAt(began.Add(after))
		r := replica{group: &group{}}
		r.observe(pod)
		assert.Equal(t, succeeded, r.state, "it isn't deleted")
		pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = new(metav1.NewTime(began.Add(30*time.Second))), ptr.To[int64](30)
		r.observe(pod)
		assert.Equal(t, want, r.state, after)
	}
}

// A node whose clock is ahead delays no restart.
func TestAClockThatIsAheadDelaysNothing(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now)}}
	f := &failure{replica: &replica{pod: pod}, how: outcome.PodFailure{Ended: new(metav1.NewTime(now.Add(time.Hour)))}}
	assert.Zero(t, f.left(0, now))
	assert.Equal(t, restartDelay(3), f.left(3, now))
	assert.Zero(t, f.left(3, now.Add(restartDelay(3))))
}
