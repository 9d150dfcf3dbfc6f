package builder_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
)

func (w *world) exists(like client.Object) bool {
	err := w.live.Get(w.ctx, client.ObjectKey{Namespace: w.ns, Name: like.GetName()}, like.DeepCopyObject().(client.Object))
	if err != nil {
		require.True(w.t, apierrors.IsNotFound(err), "%v", err)
	}
	return err == nil
}

func TestPruneTakesOnlyWhatIsOurs(t *testing.T) {
	for name, owned := range map[string][]client.Object{"indexed": {&corev1.ConfigMap{}}, "not indexed": nil} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, owned...)
			other := w.newOwner("other")
			_, _, err := w.passFor(w.engine.For(other), configMap("others"))
			require.NoError(t, err)
			_, _, err = w.pass(configMap("keep"), configMap("drop"), configMap("drop-too"), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "other-kind"}})
			require.NoError(t, err)
			w.told.take()

			res, sent, err := w.passFor(w.engine.For(w.owner).Prune(&corev1.ConfigMap{}), configMap("keep"))
			require.NoError(t, err)
			assert.Len(t, sent, 2)
			require.Len(t, res.Changes, 2)
			assert.Equal(t, events.ReasonDeleted, res.Changes[0].Reason)
			assert.False(t, w.exists(configMap("drop")))
			assert.False(t, w.exists(configMap("drop-too")))
			for _, kept := range []client.Object{configMap("keep"), configMap("others"), w.owner, other, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "other-kind"}}} {
				assert.True(t, w.exists(kept), kept.GetName())
			}
			assert.Equal(t, []string{"Normal Deleted Prune: Deleted 2 objects of kind ConfigMap: drop, drop-too"}, w.told.take())

			_, sent, err = w.passFor(w.engine.For(w.owner).Prune(&corev1.ConfigMap{}), configMap("keep"))
			require.NoError(t, err)
			assert.Empty(t, sent)

			res, err = w.engine.For(w.owner).Prune(&corev1.ConfigMap{}, &corev1.Secret{}).Reconcile(w.ctx)
			require.NoError(t, err)
			assert.Len(t, res.Changes, 2, "the last object of a kind as well")
			assert.False(t, w.exists(configMap("keep")))
		})
	}
}

func TestNothingIsPrunedAfterAnError(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{})
	_, _, err := w.pass(configMap("stale"))
	require.NoError(t, err)
	bad := webDeployment()
	*bad.Spec.Replicas = -1
	_, _, err = w.passFor(w.engine.For(w.owner).Prune(&corev1.ConfigMap{}), bad)
	require.Error(t, err)
	assert.True(t, w.exists(configMap("stale")))
}

func TestPruneRefusesWhatChangedMeanwhile(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{})
	_, _, err := w.pass(configMap("stale"))
	require.NoError(t, err)
	frozen := builder.NewEngine(frozenClient{w.cached, w.get(configMap("stale")).(*corev1.ConfigMap)}, builder.Options{Name: "tester"})
	w.edit(configMap("stale"), func(o client.Object) { o.SetOwnerReferences(nil) }) // it is someone else's now
	_, err = frozen.For(w.owner).Prune(&corev1.ConfigMap{}).Reconcile(w.ctx)
	require.True(t, apierrors.IsConflict(leaf(err)), "%v", err)
	assert.True(t, w.exists(configMap("stale")))
}

// frozenClient shows one ConfigMap as it was.
type frozenClient struct {
	client.Client
	shown *corev1.ConfigMap
}

func (f frozenClient) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.(*corev1.ConfigMapList).Items = []corev1.ConfigMap{*f.shown}
	return nil
}

func TestOwnersBeingDeletedGetNothing(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{})
	_, _, err := w.pass(configMap("child"))
	require.NoError(t, err)
	w.edit(w.owner, func(o client.Object) { o.SetFinalizers([]string{"example.com/hold"}) })
	require.NoError(t, w.live.Delete(w.ctx, w.owner))
	w.owner = w.get(w.owner).(*corev1.ConfigMap)
	t.Cleanup(func() {
		_ = w.live.Patch(context.Background(), w.owner, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
	})

	_, sent, err := w.passFor(w.engine.For(w.owner).Prune(&corev1.ConfigMap{}), configMap("new"))
	require.NoError(t, err)
	assert.Empty(t, sent)
	res, err := w.engine.For(w.owner).Delete(w.ctx, configMap("child"))
	require.NoError(t, err)
	assert.Len(t, res.Changes, 1, "what is asked for by name is deleted")
	assert.False(t, w.exists(configMap("child")))
}
