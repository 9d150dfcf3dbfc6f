package jobflow

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func withTTL(job *batchv1.Job, seconds string) *batchv1.Job {
	annotate(job, AnnotationTTL, seconds)
	return job
}

func TestJobsExpireOnceTheirEndIsRecorded(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b"), node("keep"))}
	a, b := withTTL(completeJob("a"), "0"), withTTL(failedJob("b"), "100")
	s.step()
	plan := s.step(a, b, runningJob("keep")) // at 20
	assert.Empty(t, plan.Delete, "their ends are being recorded in this pass")
	assert.Equal(t, recordingDelay, plan.RequeueAfter)

	plan = s.step(a, b, runningJob("keep")) // at 30
	assert.Equal(t, []client.Object{a}, plan.Delete)
	assert.Equal(t, 77*time.Second, plan.RequeueAfter, "b ended at 6, or up to a second later")
	assert.Empty(t, plan.Children)

	keep := completeJob("keep")
	s.step(b, keep) // at 40
	plan = s.step(b, keep)
	assert.NotNil(t, s.flow.Status.CompletionTime)
	assert.Equal(t, 57*time.Second, plan.RequeueAfter, "after the flow's end too")
	s.seconds = 100
	plan = s.step(b, keep)
	assert.Equal(t, []client.Object{b}, plan.Delete)
	assert.Zero(t, plan.RequeueAfter)
	assert.Empty(t, s.step(deletingJob(b), keep).Delete, "once is enough")
}

func TestJobsExpireWhileTheSpecIsInvalid(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b", "a"))}
	a := withTTL(completeJob("a"), "5")
	s.step()
	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Flows[1].Dependencies = []string{"x"} })
	s.step(a)
	assert.Equal(t, []client.Object{a}, s.step(a).Delete)
}

func TestJobsOfOthersDontExpire(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"))}
	s.step()
	for range 3 {
		assert.Empty(t, s.step(completeJob("a"), withTTL(completeJob("stranger"), "0")).Delete)
	}
	for _, text := range []string{"", "soon", "-1"} {
		_, ok := ttlOf(withTTL(completeJob("a"), text))
		assert.False(t, ok, text)
	}
}
