package builder

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest"
)

// An apply takes over the fields of the original's object, and a dry run changes nothing.
func TestOnlyARealApplyTakesOver(t *testing.T) {
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner", UID: "1"}}
	original := buildertest.NewServer(clientgoscheme.Scheme, buildertest.WithObjects(owner)).Client("original")
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "config", Annotations: map[string]string{"ConfigMapOperatorHash": "x"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "1", Controller: new(true)}},
	}}
	require.NoError(t, original.Create(t.Context(), object))
	managers := func() []string {
		require.NoError(t, original.Get(t.Context(), client.ObjectKeyFromObject(object), object))
		var names []string
		for _, entry := range object.ManagedFields {
			names = append(names, entry.Manager)
		}
		return names
	}
	require.Equal(t, []string{"original"}, managers())
	apply := func(opts ...client.PatchOption) {
		desired := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "config", OwnerReferences: object.OwnerReferences,
		}}
		patch := client.Apply //nolint:staticcheck // the patch that the builder sends
		opts = append(opts, client.FieldOwner(FieldOwner), client.ForceOwnership)
		require.NoError(t, claiming{original}.Patch(t.Context(), desired, patch, opts...))
	}

	apply(client.DryRunAll)
	assert.Equal(t, []string{"original"}, managers())
	apply()
	assert.Equal(t, []string{FieldOwner}, managers())
}
