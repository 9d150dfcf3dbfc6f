package replicajob

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/builder/buildertest"
)

// completionTime is by the clock of the node, which is behind; ttlSecondsAfterFinished is by that of the manager.
func TestTheClockOfANodeDoesNotExpireAJob(t *testing.T) {
	job := makeJob(started, replicas("Worker", 1))
	job.Spec.RunPolicy.TTLSecondsAfterFinished = ptr.To[int32](300)
	now := epoch.Add(time.Hour)
	pods := podsOf(job, func(p *corev1.Pod) { end(p, 0, metav1.NewTime(now.Add(-10*time.Minute))) })
	plan := ReplicaJobs.Plan(job, buildertest.NewView(now, pods...))
	assert.Equal(t, now.Add(-10*time.Minute), plan.Status.Status.CompletionTime.Time)

	job = plan.Status
	plan = ReplicaJobs.Plan(job, buildertest.NewView(now.Add(time.Second), pods...))
	assert.False(t, plan.DeleteOwner)
	assert.Equal(t, 300*time.Second, plan.RequeueAfter)
	assert.True(t, ReplicaJobs.Plan(job, buildertest.NewView(now.Add(301*time.Second), pods...)).DeleteOwner)
}
