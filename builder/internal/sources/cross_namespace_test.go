package sources

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/builder/internal/marks"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

func TestChildCrossNamespaceWakesItsOwner(t *testing.T) {
	c := &corev1.ConfigMap{}
	find := CrossNamespaceOwner(schema.GroupKind{Kind: "ConfigMap"})
	assert.Empty(t, find(t.Context(), c))
	owner := marks.Owner{UID: "owner-uid", Key: store.Key{Kind: "ConfigMap", Namespace: "default", Name: "owner"}}
	owner.SetCrossNamespace(c)
	got := find(t.Context(), c)
	require.Len(t, got, 1)
	assert.Equal(t, "default/owner", got[0].String())
	assert.Empty(t, CrossNamespaceOwner(schema.GroupKind{Kind: "Other"})(t.Context(), c))
	c.Annotations[wellknown.AnnotationOwner] = "nonsense"
	assert.Empty(t, find(t.Context(), c))
}
