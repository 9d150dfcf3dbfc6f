package jobflow

import (
	"testing"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestSuspendedJobsDontCountAsRunning(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b"), each("c", "x", "y"))}
	jobs := jobsOf(s.step(), runningJob) // c-0, c-1, a, b
	s.step(jobs...)
	assert.Equal(t, v1alpha1.FlowCounts{Total: 3, Running: 3}, s.flow.Status.Counts)
	assert.Equal(t, "a,b,c", s.flow.Status.Current)
	suspend := func(job client.Object) client.Object { // by a queue, say
		suspended := job.DeepCopyObject().(*batchv1.Job)
		suspended.Spec.Suspend = new(true)
		return suspended
	}
	s.step(suspend(jobs[0]), jobs[1], suspend(jobs[2]), jobs[3])
	assert.Equal(t, v1alpha1.FlowCounts{Total: 3, Running: 2, Suspended: 1}, s.flow.Status.Counts)
	assert.Equal(t, map[string]v1alpha1.FlowState{"a": "Suspended", "b": "Running", "c": "Running"}, states(s.flow))
	assert.Equal(t, "b,c", s.flow.Status.Current)
	assert.Equal(t, "0 of 3 succeeded, 2 running, 0 pending, 1 suspended", condition(s.flow, "Ready").Message)

	s.step(suspend(jobs[0]), suspend(jobs[1]), suspend(jobs[2]), suspend(jobs[3]))
	assert.Equal(t, v1alpha1.FlowCounts{Total: 3, Suspended: 3}, s.flow.Status.Counts)
	assert.Empty(t, s.flow.Status.Current)
	assert.Equal(t, v1alpha1.StateRunning, s.flow.Status.State, "the spec doesn't say suspend")
	assert.Equal(t, "0 of 2 items succeeded", detailOf(s.flow, "c").Message)

	s.step(jobs...)
	assert.Equal(t, v1alpha1.FlowCounts{Total: 3, Running: 3}, s.flow.Status.Counts)
	for _, f := range s.flow.Status.Flows {
		assert.EqualValues(t, 1, f.Attempts, "%s was started once", f.Name)
	}
	assert.Empty(t, s.step(jobs...).Children)
}
