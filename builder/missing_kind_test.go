package builder_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/armature-dev/armature/builder"
)

// An operator looks for a missing kind once a minute, and not in a loop of retries. Its other children go on.
func TestOperatorOfAMissingKind(t *testing.T) {
	gadget := func(name string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		u.SetAPIVersion("nowhere.example.com/v1")
		u.SetKind("Gadget")
		u.SetName(name)
		return u
	}
	s := perform(t, func(owner *appsv1.Deployment, _ builder.View) ownerPlan {
		return ownerPlan{Children: []builder.Child{builder.Want(gadget("a")), builder.Want(gadget("b")), builder.Want(newJob("beside"))}}
	}, func(o *operator) { o.Owns(gadget("")).Owns(&batchv1.Job{}) })
	writes, after, err := s.pass()
	require.NoError(t, err, "an error would be retried at once")
	assert.Equal(t, []string{"create Job.batch default/beside"}, writes)
	assert.Equal(t, time.Minute, after)
	s.server.Clock().Step(20 * time.Second)
	writes, after, err = s.pass()
	require.NoError(t, err)
	assert.Empty(t, writes)
	assert.Equal(t, 40*time.Second, after, "when the kind is looked for again")
}
