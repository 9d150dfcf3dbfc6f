package diagnose

import (
	"testing"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// queuedJob returns a Job that Kueue suspends.
func queuedJob(name string) *Object {
	return makeJob(name, func(j *batchv1.Job) {
		j.Labels, j.Spec.Suspend = map[string]string{kueueQueue: "team"}, new(true)
	}, nil)
}

// A wait in Kueue's queue is no problem, and hides none.
func TestQueuedByKueue(t *testing.T) {
	queued := Diagnose(Facts{Root: queuedJob("j")})
	assert.Equal(t, Waiting, queued.Phase)
	assert.Equal(t, "Queued", queued.Reason)
	assert.Contains(t, queued.Next, "kubectl describe workloads -n team")
	assert.False(t, queued.Wrong())

	assert.Equal(t, Waiting, Diagnose(Facts{Root: makeFlow(nil, queuedJob("f-a"))}).Phase)

	refused := func() *Object { return makePod("p", waiting("ErrImagePull", "unauthorized: authentication required")) }
	for _, owned := range [][]*Object{
		{queuedJob("f-a"), makeJob("f-b", nil, nil, refused()), queuedJob("f-c")},
		{makeJob("f-b", nil, nil, refused()), queuedJob("f-a"), queuedJob("f-c")},
	} {
		found := Diagnose(Facts{Root: makeFlow(nil, owned...)})
		assert.Equal(t, Blocked, found.Phase)
		assert.Equal(t, "ImageForbidden", found.Reason)
		assert.Zero(t, found.Others, "only problems count")
	}

	found := Diagnose(Facts{Root: makeFlow(func(f *v1alpha1.JobFlow) { f.Status.State = v1alpha1.StateFailed },
		queuedJob("f-a"), makeJob("f-b", labelled("b", failedJob), nil), makeJob("f-c", labelled("c", nil), nil, refused()),
		makeJob("f-d", labelled("d", nil), nil, refused()))})
	assert.Equal(t, Failed, found.Phase)
	assert.Equal(t, 2, found.Others)
}
