package builder_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	armature "github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/compat/builder"
)

// What this package made is as Armature's builder objects it, and can lose fields by it.
func TestMovingOnToArmature(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	data := map[string]string{"a": "1", "b": "2"}
	_, err := newBuilder(s, cr, builder.ToNewBuilderConfigMap([]builder.BuilderConfigMap{configMap(s, cr, "config", data)})).ReconcileConfigMap()
	require.NoError(t, err)

	engine := armature.NewEngine(s, armature.Options{Name: builder.FieldOwner})
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config"}, Data: data}
	res, err := engine.For(cr).ConfigMap(cm).Reconcile(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, res.Unchanged)
	require.Empty(t, res.Changes)

	delete(data, "b")
	_, err = engine.For(cr).ConfigMap(cm).Reconcile(t.Context())
	require.NoError(t, err)
	got := &corev1.ConfigMap{}
	require.True(t, s.has(got, "config"))
	require.Equal(t, map[string]string{"a": "1"}, got.Data)
}

// The children of a deleted owner of the same name are about to be garbage collected. The operator is told to come back.
func TestAPredecessorsObjectIsWaitedFor(t *testing.T) {
	before, cr := newCR("cr"), newCR("cr")
	before.UID = "uid-of-predecessor"
	ref := ownerRef(before)
	old := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "config", OwnerReferences: []metav1.OwnerReference{ref}}}
	s := newServer(t, old)
	fake, recorder := newRecorder()
	b := newBuilder(s, cr, builder.ToNewBuilderRecorder(recorder),
		builder.ToNewBuilderConfigMap([]builder.BuilderConfigMap{configMap(s, cr, "config", nil)}))
	_, err := b.ReconcileConfigMap()
	require.ErrorContains(t, err, "ConfigMap default/config can't be written yet")
	require.Empty(t, events(fake))
	require.Error(t, b.ReconcileStore())
}

func TestADeletedOwnerGetsNothing(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	cr.DeletionTimestamp = new(metav1.Now())
	_, err := newBuilder(s, cr, builder.ToNewBuilderConfigMap([]builder.BuilderConfigMap{configMap(s, cr, "config", nil)})).ReconcileConfigMap()
	require.NoError(t, err)
	require.False(t, s.has(&corev1.ConfigMap{}, "config"))
}
