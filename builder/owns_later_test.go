package builder_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/armature-dev/armature/builder"
)

// What an operator is to own before it runs is declared; a real one is tried with the gang schedulers of ReplicaJobs.
func TestOwnsLaterIsForWhatRuns(t *testing.T) {
	err := builder.NewOperator[*appsv1.Deployment](nil, "web").OwnsLater(t.Context(), &batchv1.Job{})
	assert.ErrorIs(t, err, builder.ErrMisuse)
	assert.ErrorContains(t, err, "operator web")
	assert.ErrorContains(t, err, "Owns")
}
