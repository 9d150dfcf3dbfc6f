package builder

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/internal/wellknown"
)

func TestChildCrossNamespaceWakesItsOwner(t *testing.T) {
	e := engineWith(interceptor.Funcs{})
	p, err := e.newPass(owner())
	require.NoError(t, err)
	c := config("c")
	find := ownersCrossNamespace(schema.GroupKind{Kind: "ConfigMap"})
	assert.Empty(t, find(t.Context(), c))
	p.cluster.Marks.SetCrossNamespace(c)
	got := find(t.Context(), c)
	require.Len(t, got, 1)
	assert.Equal(t, "default/owner", got[0].String())
	assert.Empty(t, ownersCrossNamespace(schema.GroupKind{Kind: "Other"})(t.Context(), c))
	c.Annotations[wellknown.AnnotationOwner] = "nonsense"
	assert.Empty(t, find(t.Context(), c))
}
