package builder

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/internal/wellknown"
)

func untyped(t *testing.T, obj client.Object, apiVersion, kind string) *unstructured.Unstructured {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	require.NoError(t, err)
	u := &unstructured.Unstructured{Object: fields}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	return u
}

func TestPathsToIgnoreAreChecked(t *testing.T) {
	for path, says := range map[string]string{
		"spec.replcas":                    "replcas of spec is unknown",
		"spec..replicas":                  "name of a field is expected",
		"":                                "is empty",
		"metadata.name":                   "builder needs",
		"metadata":                        "builder needs",
		"metadata.labels":                 "builder needs",
		"metadata.ownerReferences[uid=x]": "builder needs",
		"metadata.annotations[" + wellknown.AnnotationDigest + "]": "builder needs",
		"kind":            "never left to others",
		"status.replicas": "never written",
	} {
		e := engineWith(interceptor.Funcs{})
		_, err := e.For(owner()).Deployment(deployment("web"), Ignore("spec.paused", path)).Reconcile(t.Context())
		require.ErrorIs(t, err, ErrMisuse, path)
		assert.ErrorContains(t, err, says)
		assert.ErrorContains(t, err, `path "`+path+`" to ignore of Deployment.apps default/web`)
	}
}

func TestOptionsAreInTheHash(t *testing.T) {
	hash := func(opts ...ChildOption) uint64 {
		h, ok := Want(deployment("web"), opts...).desired.Hash()
		require.True(t, ok)
		return h
	}
	assert.Equal(t, hash(), hash())
	assert.Equal(t, hash(Ignore("a", "b")), hash(Ignore("a"), Ignore("b")))
	assert.NotEqual(t, hash(), hash(Ignore("a")))
	assert.NotEqual(t, hash(Ignore("b")), hash(Ignore("a")))
}
