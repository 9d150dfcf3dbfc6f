package builder_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

func TestCRUDCrossNamespace(t *testing.T) {
	at := func(name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: name}}
	}
	c, ctx := newCluster(at("theirs")), t.Context()
	b := func() *builder.Builder {
		c.get(c.owner)
		return c.engine.For(c.owner)
	}
	_, err := b().Create(ctx, at("c"))
	assert.ErrorIs(t, err, builder.ErrMisuse)
	res, err := b().Create(ctx, at("c"), builder.CrossNamespace())
	require.NoError(t, err)
	assert.Equal(t, events.ReasonCreated, res.Changes[0].Reason)
	c.get(c.owner)
	assert.Contains(t, c.owner.Finalizers, wellknown.Finalizer)

	got := at("")
	require.NoError(t, b().Get(ctx, "c", got, builder.CrossNamespace()))
	assert.Equal(t, string(c.owner.UID), got.Labels[wellknown.LabelOwnerUID])
	assert.ErrorIs(t, b().Get(ctx, "theirs", at(""), builder.CrossNamespace()), builder.ErrNotOwned)
	list := &corev1.ConfigMapList{}
	require.NoError(t, b().List(ctx, list, builder.CrossNamespace()))
	assert.Len(t, list.Items, 1)
	require.NoError(t, b().List(ctx, list))
	assert.Empty(t, list.Items, "none at home")

	_, err = b().Delete(ctx, at("theirs"), builder.CrossNamespace())
	assert.ErrorIs(t, err, builder.ErrNotOwned)
	res, err = b().Delete(ctx, at("c"), builder.CrossNamespace())
	require.NoError(t, err)
	assert.Len(t, res.Changes, 1)
	assert.True(t, apierrors.IsNotFound(b().Get(ctx, "c", at(""), builder.CrossNamespace())))
}

func TestCRUDTakesOptions(t *testing.T) {
	c, ctx := newCluster(), t.Context()
	desired := func(replicas int32) *appsv1.Deployment {
		d := web("nginx")
		d.Spec.Replicas = new(replicas)
		return d
	}
	ignore := builder.Ignore("spec.replicas")
	res, err := c.engine.For(c.owner).Create(ctx, desired(1), ignore)
	require.NoError(t, err)
	assert.NotEmpty(t, res.Changes)
	res, err = c.engine.For(c.owner).Update(ctx, desired(5), ignore)
	require.NoError(t, err)
	assert.Empty(t, res.Changes)
	_, err = c.engine.For(c.owner).Create(ctx, settings(nil), builder.InPhase("broker"))
	assert.ErrorIs(t, err, builder.ErrMisuse, "it has to wait for its turn")
	_, err = c.engine.For(c.owner).Create(ctx, nil)
	assert.ErrorIs(t, err, builder.ErrMisuse)
}

// What is created by itself is pruned like the rest when its kind is no longer wanted.
func TestCRUDIsOnRecord(t *testing.T) {
	c, ctx := newCluster(), t.Context()
	_, err := c.engine.For(c.owner).PruneAll().Create(ctx, settings(nil))
	require.NoError(t, err)
	c.get(c.owner)
	assert.Equal(t, "ConfigMap", c.owner.Annotations[wellknown.AnnotationGroupKinds])
}
