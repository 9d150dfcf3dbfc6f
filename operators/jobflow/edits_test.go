package jobflow

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
)

// jobsOf returns the Jobs that a plan wants, ended in some way.
func jobsOf(plan builder.Plan[*v1alpha1.JobFlow], end func(string) *batchv1.Job) []client.Object {
	var jobs []client.Object
	for _, child := range plan.Children {
		job := child.Object().(*batchv1.Job).DeepCopy()
		job.Status = end("x").Status
		jobs = append(jobs, job)
	}
	return jobs
}

func image(f *v1alpha1.JobFlow, node int, name string) {
	f.Spec.Flows[node].JobTemplate.Template.Spec.Containers[0].Image = name
}

func TestEditsOfWhatHasStartedAreRefused(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b"), node("c", "a", "b"))}
	first := jobsOf(s.step(), runningJob)
	first[0].(*batchv1.Job).Status = completeJob("x").Status
	s.step(first...)

	s.edit(func(f *v1alpha1.JobFlow) {
		image(f, 0, "ended:2")
		image(f, 1, "running:2")
		f.Spec.Flows[1].ShareVolumeMounts = nil
		f.Spec.Flows[1].Dependencies = []string{"a"}
		image(f, 2, "pending:2")
	})
	plan := s.step(first...)
	assert.Equal(t, []string{"EditRefused"}, reasons(plan.Events))
	refused := condition(s.flow, "EditRefused")
	for _, text := range []string{
		`flow "a": spec.flows[0].jobTemplate: Forbidden: it has been started`,
		`flow "b": spec.flows[1].dependencies: Forbidden`, `flow "b": spec.flows[1].jobTemplate: Forbidden`,
	} {
		assert.Contains(t, refused.Message, text)
	}
	assert.NotContains(t, refused.Message, `"c"`)
	assert.Empty(t, s.step(first...).Events, "told once")

	plan = s.step(first[0], func() client.Object {
		j := first[1].DeepCopyObject().(*batchv1.Job)
		j.Status = completeJob("x").Status
		return j
	}())
	assert.Equal(t, []string{"demo-c"}, started(plan))
	assert.Equal(t, "pending:2", plan.Children[0].Object().(*batchv1.Job).Spec.Template.Spec.Containers[0].Image, "it goes on")

	s.edit(func(f *v1alpha1.JobFlow) { image(f, 0, "busybox:1.28") })
	plan = s.step() // all Jobs are gone
	assert.Contains(t, condition(s.flow, "EditRefused").Message, `flow "b": spec.flows[1]: Forbidden`, "b was changed, and a was put back")
	assert.NotContains(t, condition(s.flow, "EditRefused").Message, `"a"`)
	s.edit(func(f *v1alpha1.JobFlow) { image(f, 1, "busybox:1.28"); f.Spec.Flows[1].Dependencies = nil })
	s.step()
	assert.Empty(t, condition(s.flow, "EditRefused"))
}

func TestWhatHasNotStartedMayChange(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b", "a"), node("c", "b"), node("d"))}
	first := jobsOf(s.step(), completeJob)
	second := jobsOf(s.step(first...), runningJob)
	s.step(append(first, second...)...)
	s.edit(func(f *v1alpha1.JobFlow) { // reversed, without c, with two new ones
		f.Spec.Flows = []v1alpha1.Flow{node("new1", "d"), node("d"), node("b", "a"), node("a"), node("new2", "b")}
	})
	plan := s.step(append(first, second...)...)
	assert.Equal(t, []string{"demo-new1"}, started(plan))
	assert.Empty(t, condition(s.flow, "EditRefused"))
	assert.Equal(t, map[string]v1alpha1.FlowState{"a": "Succeed", "b": "Running", "d": "Succeed", "new1": "Pending", "new2": "Pending"}, states(s.flow))
	assert.EqualValues(t, "1,3", s.flow.Status.Finished)
	assert.Equal(t, "2/5", s.flow.Status.Progress)
	plan = s.step() // all Jobs are gone; what has ended stays so
	assert.Equal(t, []string{"demo-new1", "demo-b"}, started(plan))
}

func TestWhatHasStartedCannotBeTakenOut(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b"), node("keep"))}
	jobs := jobsOf(s.step(), runningJob)
	jobs[0].(*batchv1.Job).Status = completeJob("x").Status
	s.step(jobs...)
	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Flows = []v1alpha1.Flow{node("keep")} })
	plan := s.step(jobs...)
	assert.Equal(t, []string{"EditRefused"}, reasons(plan.Events))
	assert.Contains(t, plan.Events[0].Note, `flow "b": spec.flows: Forbidden: it was removed after its start: it still counts`)
	assert.Contains(t, plan.Events[0].Note, `1 ended flows were removed`)
	assert.Equal(t, "1/3", s.flow.Status.Progress)
	assert.Equal(t, "keep,b", s.flow.Status.Current)
	assert.EqualValues(t, "1", s.flow.Status.Finished)

	jobs[1].(*batchv1.Job).Status = failedJob("x").Status
	jobs[2].(*batchv1.Job).Status = completeJob("x").Status
	plan = s.step(jobs[1:]...)
	assert.Equal(t, []string{"JobFailed", "Failed"}, reasons(plan.Events))
	assert.Equal(t, v1alpha1.StateFailed, s.flow.Status.State)
	assert.Equal(t, "3/3", s.flow.Status.Progress)
}

func TestWhatWasTakenOutMayBePutBack(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b"), node("c", "a"))}
	jobs := jobsOf(s.step(), runningJob)
	jobs[0].(*batchv1.Job).Status = completeJob("x").Status
	s.step(jobs...)
	whole := slices.Clone(s.flow.Spec.Flows)
	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Flows = whole[1:2] })
	s.step(jobs[1])
	s.edit(func(f *v1alpha1.JobFlow) { f.Spec.Flows = whole })
	assert.Equal(t, []string{"demo-c"}, started(s.step(jobs[1])), "a isn't run again")
	assert.Empty(t, condition(s.flow, "EditRefused"))
	assert.Equal(t, "1/3", s.flow.Status.Progress)
}

func TestEndsAreInferredFromWhatFollowed(t *testing.T) {
	s := &stepper{flow: makeFlow(node("a"), node("b", "a"), node("c", "b"))}
	first := jobsOf(s.step(), completeJob)
	before := s.flow
	second := jobsOf(s.step(first...), runningJob)
	s.flow = before // the status had been put off
	assert.Empty(t, started(s.step(second...)), "a's Job was deleted, and b runs: a had succeeded")
	assert.Equal(t, v1alpha1.FlowSucceed, states(s.flow)["a"])

	s = &stepper{flow: makeFlow(node("a"), node("b"))}
	jobs := jobsOf(s.step(), runningJob)
	s.step(jobs...)
	s.edit(func(f *v1alpha1.JobFlow) {
		f.Spec.Flows = append(f.Spec.Flows, node("new"))
		f.Spec.Flows[1].Dependencies = []string{"new"}
	})
	assert.Equal(t, []string{"demo-new"}, started(s.step(jobs...)), "b was started without new")
}
