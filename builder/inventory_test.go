package builder

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/internal/wellknown"
)

// patches are the merge patches that an engine sent to its owner.
func patches(t *testing.T, sent *[]string, answer error) interceptor.Funcs {
	return interceptor.Funcs{Patch: func(_ context.Context, _ client.WithWatch, obj client.Object, patch client.Patch, _ ...client.PatchOption) error {
		body, err := patch.Data(obj)
		require.NoError(t, err)
		*sent = append(*sent, string(body))
		obj.SetResourceVersion("8")
		return answer
	}}
}

func readOwner() *corev1.ConfigMap {
	o := owner()
	o.ResourceVersion = "7"
	o.Finalizers = []string{"example.com/theirs"}
	o.Annotations = map[string]string{wellknown.AnnotationGroupKinds: "Secret"}
	return o
}

func TestInventoryIsOnePatchAndOnlyOnChange(t *testing.T) {
	var sent []string
	e := engineWith(patches(t, &sent, nil))
	o := readOwner()
	record := func(wants ...Child) {
		p, err := e.newPass(o)
		require.NoError(t, err)
		p.pruneAll = true
		require.NoError(t, p.recordKinds(t.Context(), wants))
	}
	record()
	record(Want(&corev1.Secret{}))
	assert.Empty(t, sent, "nothing new")
	record(Want(config("a")), Want(config("b")), Want(nil), Want(deployment("d"), CrossNamespace()))
	require.Len(t, sent, 1)
	var patch struct{ Metadata map[string]any }
	require.NoError(t, json.Unmarshal([]byte(sent[0]), &patch))
	assert.Equal(t, map[string]any{
		"resourceVersion": "7",
		"finalizers":      []any{"example.com/theirs", wellknown.Finalizer},
		"annotations": map[string]any{
			wellknown.AnnotationGroupKinds: "ConfigMap,Secret", wellknown.AnnotationGroupKindsCrossNamespace: "Deployment.apps",
		},
	}, patch.Metadata)
	record(Want(config("a")), Want(deployment("d"), CrossNamespace()))
	assert.Len(t, sent, 1, "the owner as it was read before will do")
	assert.Equal(t, "8", e.inventoryOf(o).ResourceVersion)

	o = readOwner()
	o.ResourceVersion = "9" // read anew: someone else may have written
	assert.Equal(t, "9", e.inventoryOf(o).ResourceVersion)
	assert.False(t, e.inventoryOf(o).IsGuarded())
}

func TestNothingIsRecordedUnasked(t *testing.T) {
	var sent []string
	e := engineWith(patches(t, &sent, nil))
	_, err := e.For(readOwner()).ConfigMap(config("a")).Prune(&corev1.Secret{}).Reconcile(t.Context())
	require.NoError(t, err)
	assert.Empty(t, sent)
	d, err := e.For(readOwner()).ConfigMap(config("b")).PruneAll().Diff(t.Context())
	require.NoError(t, err)
	assert.Empty(t, sent, "nor in a dry run")
	assert.Len(t, d.Changes, 2)
}

func TestNothingIsCreatedUnrecorded(t *testing.T) {
	var sent []string
	e := engineWith(patches(t, &sent, conflict))
	for name, b := range map[string]*Builder{
		"at home":   e.For(readOwner()).ConfigMap(config("a")).PruneAll(),
		"elsewhere": e.For(readOwner()).Deployment(deployment("d"), CrossNamespace()),
	} {
		res, err := b.Reconcile(t.Context())
		assert.True(t, isConflict(err), name)
		assert.Empty(t, res.Changes, name)
	}
}

func TestLeftoverThatCannotBeListed(t *testing.T) {
	forbidden := apierrors.NewForbidden(corev1.Resource("secrets"), "", nil)
	e := engineWith(interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return forbidden
	}})
	_, err := e.For(readOwner()).PruneAll().Reconcile(t.Context())
	require.ErrorIs(t, err, forbidden)
	assert.ErrorContains(t, err, "prune Secret, which is in the inventory of ConfigMap default/owner")
	assert.False(t, IsTerminal(err), "it may be permitted later")
}
