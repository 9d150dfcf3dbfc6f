package inventory

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/internal/wellknown"
)

func TestInventoryChanges(t *testing.T) {
	config, secret := schema.GroupKind{Kind: "ConfigMap"}, schema.GroupKind{Kind: "Secret"}
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: "7", Finalizers: []string{"example.com/theirs"},
		Annotations: map[string]string{wellknown.AnnotationGroupKinds: "Secret"},
	}}
	empty := Of(owner)
	assert.True(t, empty.Covers(Kinds{}.Insert(secret), nil))
	assert.True(t, empty.Covers(nil, nil))
	assert.False(t, empty.Covers(Kinds{}.Insert(config), nil))
	assert.False(t, empty.Covers(nil, Kinds{}.Insert(config)))

	same, patch, err := empty.Change(empty.Kinds, nil)
	require.NoError(t, err)
	assert.False(t, same.IsGuarded())
	assert.NotContains(t, string(patch), "finalizers", "those of others stay as they are")

	guarded, patch, err := empty.Change(empty.Kinds, Kinds{}.Insert(config))
	require.NoError(t, err)
	assert.True(t, guarded.IsGuarded())
	assert.True(t, guarded.Covers(nil, Kinds{}.Insert(config)))
	assert.JSONEq(t, `{"metadata":{"resourceVersion":"7","finalizers":["example.com/theirs","armature.dev/cleanup"],"annotations":{
		"armature.dev/contains-group-kinds":"Secret","armature.dev/contains-group-kinds-elsewhere":"ConfigMap"}}}`, string(patch))

	gone, patch, err := guarded.Change(nil, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"example.com/theirs"}, gone.Finalizers)
	assert.JSONEq(t, `{"metadata":{"resourceVersion":"7","finalizers":["example.com/theirs"],"annotations":{
		"armature.dev/contains-group-kinds":null,"armature.dev/contains-group-kinds-elsewhere":null}}}`, string(patch))
	unguarded := guarded
	unguarded.Finalizers = nil
	assert.False(t, unguarded.Covers(nil, unguarded.CrossNamespace), "the finalizer comes first")
}
