package buildertest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest"
)

func TestSchemaValidation(t *testing.T) {
	crds := buildertest.WithCRDs("../../config/crd")
	invalid := jobFlow("default")
	invalid.Spec.ActiveDeadlineSeconds = new(int64)
	c := buildertest.NewServer(customScheme(t), crds).Client()
	const message = `spec.activeDeadlineSeconds: Invalid value: 0: spec.activeDeadlineSeconds in body should be greater than or equal to 1`
	err := c.Create(t.Context(), invalid.DeepCopy())
	require.True(t, apierrors.IsInvalid(err), "%v", err)
	assert.EqualError(t, err, `JobFlow.api.practice.com "f" is invalid: `+message)

	flow := jobFlow("default")
	require.NoError(t, c.Create(t.Context(), flow))
	flow.Spec.ActiveDeadlineSeconds = new(int64)
	require.ErrorContains(t, c.Update(t.Context(), flow), message)
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"activeDeadlineSeconds":0}}`))
	require.ErrorContains(t, c.Patch(t.Context(), flow, patch), message)

	server := buildertest.NewServer(customScheme(t), crds)
	require.ErrorContains(t, server.Add(invalid), message)
}
