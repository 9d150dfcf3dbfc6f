package builder_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
)

func configMap(name string, data ...string) *corev1.ConfigMap {
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for i := 0; i < len(data); i += 2 {
		c.Data = map[string]string{data[i]: data[i+1]}
	}
	return c
}

func TestForeignObjectIsLeftAlone(t *testing.T) {
	for name, owned := range map[string][]client.Object{"indexed": {&corev1.ConfigMap{}}, "not indexed": nil} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, owned...)
			theirs := configMap("theirs", "a", "b")
			theirs.Namespace = w.ns
			require.NoError(t, w.live.Create(w.ctx, theirs))
			w.settle(theirs)

			for range 3 {
				res, sent, err := w.passFor(w.engine.For(w.owner).Prune(&corev1.ConfigMap{}), configMap("theirs", "x", "y"), configMap("ours"))
				require.ErrorIs(t, err, builder.ErrNotOwned)
				assert.False(t, builder.IsTerminal(err), "someone may delete it")
				var about *builder.Error
				require.ErrorAs(t, err, &about)
				assert.Equal(t, "theirs", about.Key.Name)
				assert.LessOrEqual(t, len(sent), 1, "only the other child's create: %v", sent)
				assert.Len(t, sent, len(res.Changes))
			}
			assert.Equal(t, theirs.ResourceVersion, w.get(theirs).GetResourceVersion())
			told := w.told.take()
			require.Len(t, told, 2)
			assert.Equal(t, "Normal Created Apply: Created ConfigMap ours", told[0])
			assert.Contains(t, told[1], "Warning NotOwned Apply: apply ConfigMap "+w.ns+"/theirs: exists and is not ours: it has no controller")

			require.NoError(t, w.live.Delete(w.ctx, theirs))
			w.eventually(func() bool {
				res, _, err := w.pass(configMap("theirs", "x", "y"), configMap("ours"))
				return err == nil && len(res.Changes) > 0
			}, "the name to be free")
		})
	}
}

// stale is a client whose cache shows nothing.
type stale struct{ client.Client }

func (s stale) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return apierrors.NewNotFound(corev1.Resource("configmaps"), key.Name)
}
func (s stale) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

func TestAlreadyExistsBehindAStaleCache(t *testing.T) {
	w := newWorld(t)
	_, _, err := w.pass(configMap("ours", "a", "1"))
	require.NoError(t, err)
	theirs := configMap("theirs")
	theirs.Namespace = w.ns
	require.NoError(t, w.live.Create(w.ctx, theirs))
	blind := builder.NewEngine(stale{w.cached}, builder.Options{Name: "tester", Reader: w.live})

	res, sent, err := w.passFor(blind.For(w.owner), configMap("ours", "a", "1"))
	require.NoError(t, err)
	assert.Equal(t, 1, res.Unchanged)
	assert.Len(t, sent, 1, "the create that failed")

	before := w.get(configMap("ours"))
	res, _, err = w.passFor(blind.For(w.owner), configMap("ours", "a", "2"))
	require.NoError(t, err)
	require.Len(t, res.Changes, 1)
	assert.Equal(t, events.ReasonUpdated, res.Changes[0].Reason)
	after := w.get(configMap("ours")).(*corev1.ConfigMap)
	assert.Equal(t, before.GetUID(), after.UID, "no twin, no replacement")
	assert.Equal(t, "2", after.Data["a"])

	_, _, err = w.passFor(blind.For(w.owner), configMap("theirs", "a", "1"))
	require.ErrorIs(t, err, builder.ErrNotOwned)
	assert.Empty(t, w.get(theirs).(*corev1.ConfigMap).Data)
}

func TestPredecessorsChildIsWaitedFor(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{})
	child := configMap("child", "a", "1")
	_, _, err := w.pass(child)
	require.NoError(t, err)
	w.edit(child, func(o client.Object) { o.SetFinalizers([]string{"example.com/hold"}) })
	require.NoError(t, w.live.Delete(w.ctx, w.owner))
	old := w.get(child).GetUID()
	w.owner = w.newOwner("owner") // same name, new UID

	res, sent, err := w.pass(child)
	require.NoError(t, err)
	assert.Empty(t, sent)
	require.Len(t, pending(res, events.ReasonWaiting), 1)
	assert.Equal(t, "child", pending(res, events.ReasonWaiting)[0].Key.Name)
	assert.NotZero(t, res.RequeueAfter)

	w.eventually(func() bool { return w.get(child).GetDeletionTimestamp() != nil }, "the garbage collector")
	release := w.get(child)
	release.SetFinalizers(nil)
	require.NoError(t, w.live.Update(w.ctx, release))
	w.eventually(func() bool {
		res, _, err := w.pass(child)
		return err == nil && len(res.Changes) > 0
	}, "the child of the new owner")
	assert.NotEqual(t, old, w.get(child).GetUID())
}

func TestFullQuota(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{})
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "few"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/secrets": resource.MustParse("2")}},
	}
	require.NoError(t, w.live.Create(w.ctx, quota))
	w.eventually(func() bool { return w.get(quota).(*corev1.ResourceQuota).Status.Hard != nil }, "the quota controller")
	var secrets []client.Object
	for _, n := range "abcdefghijklmnopqrstuvwxyz" {
		secrets = append(secrets, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: string(n)}})
	}
	res, sent, err := w.pass(secrets...)
	require.Error(t, err)
	assert.True(t, apierrors.IsForbidden(leaf(err)), "%v", err)
	assert.False(t, builder.IsTerminal(err))
	assert.Len(t, res.Changes, 2)
	assert.Less(t, len(sent), 10, "a full quota stops the rest: %v", sent)

	require.NoError(t, w.live.Delete(w.ctx, quota))
	w.eventually(func() bool {
		res, _, err := w.pass(secrets...)
		return err == nil && res.Unchanged+len(res.Changes) == len(secrets)
	}, "the rest, once there is room")
}

func leaf(err error) error {
	if about, ok := errors.AsType[*builder.Error](err); ok {
		return about
	}
	return err
}

func TestInvalidObject(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{})
	bad := webDeployment()
	*bad.Spec.Replicas = -1
	_, sent, err := w.passFor(w.engine.For(w.owner).Prune(&corev1.ConfigMap{}), bad, configMap("good"))
	require.Error(t, err)
	assert.True(t, builder.IsTerminal(err))
	assert.ErrorContains(t, err, "create Deployment.apps "+w.ns+"/web:")
	assert.ErrorContains(t, err, "spec.replicas")
	assert.Len(t, sent, 2, "the good one is made all the same")
	assert.NotEmpty(t, w.get(configMap("good")).GetUID())
}
