package preview

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/internal/wellknown"
)

type storedDeployment struct {
	client.Client
	object *appsv1.Deployment
}

func (s storedDeployment) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	s.object.DeepCopyInto(into.(*appsv1.Deployment))
	return nil
}

// An apply that only corrects drift leaves the entry of the creation, which has the API server's defaults, too.
func TestEstimateKeepsTheDefaultsOfACreation(t *testing.T) {
	const us = "builder"
	entry := func(operation metav1.ManagedFieldsOperationType, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: us, Operation: operation, APIVersion: "apps/v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
		}
	}
	digest := map[string]string{wellknown.AnnotationDigest: "1"}
	live := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Annotations: digest, ManagedFields: []metav1.ManagedFieldsEntry{
			entry(metav1.ManagedFieldsOperationApply, `{"f:spec":{"f:replicas":{}}}`),
			entry(metav1.ManagedFieldsOperationUpdate, fmt.Sprintf(
				`{"f:metadata":{"f:annotations":{"f:%s":{}}},"f:spec":{"f:progressDeadlineSeconds":{},"f:replicas":{}}}`, wellknown.AnnotationDigest)),
		}},
		Spec: appsv1.DeploymentSpec{Replicas: new(int32(2)), ProgressDeadlineSeconds: new(int32(600))},
	}
	desired := fmt.Sprintf(`{"metadata":{"annotations":{%q:"2"}},"spec":{"replicas":3}}`, wellknown.AnnotationDigest)
	estimate := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	e := newEstimator(storedDeployment{object: live})
	require.NoError(t, e.apply(t.Context(), estimate, client.RawPatch(types.ApplyPatchType, []byte(desired)), us))
	assert.Equal(t, new(int32(3)), estimate.Spec.Replicas)
	assert.Equal(t, new(int32(600)), estimate.Spec.ProgressDeadlineSeconds)
}
