package buildertest_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest"
)

// A request of an ended context doesn't reach the server. A cache answers without a request.
func TestCallsOfAnEndedContextFail(t *testing.T) {
	s := newServer(configMap("a"))
	c := s.Client()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a, key := configMap("a"), client.ObjectKeyFromObject(configMap("a"))
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"data":{"b":"2"}}`))
	watched := func() error { _, err := c.Watch(ctx, &corev1.ConfigMapList{}); return err }
	for name, err := range map[string]error{
		"create":      c.Create(ctx, configMap("b")),
		"update":      c.Update(ctx, configMap("a")),
		"patch":       c.Patch(ctx, configMap("a"), patch),
		"apply":       c.Apply(ctx, corev1ac.ConfigMap("a", "default"), client.FieldOwner("x")),
		"delete":      c.Delete(ctx, configMap("a")),
		"delete all":  c.DeleteAllOf(ctx, configMap("a"), client.InNamespace("default")),
		"status":      c.Status().Update(ctx, deployment("a", "i")),
		"scale":       c.SubResource("scale").Patch(ctx, deployment("a", "i"), patch),
		"watch":       watched(),
		"a live get":  c.Live().Get(ctx, key, a),
		"a live list": c.Live().List(ctx, &corev1.ConfigMapList{}),
	} {
		require.ErrorIs(t, err, context.Canceled, name)
	}
	require.NoError(t, c.Get(ctx, key, a), "of the cache")
	require.NoError(t, c.List(ctx, &corev1.ConfigMapList{}), "of the cache")
	assert.Empty(t, s.Ledger().Writes())
	assert.EqualError(t, c.Delete(ctx, a), "delete ConfigMap default/a: context canceled")
	c.CrashAfter(0)
	assert.ErrorIs(t, c.Delete(ctx, a), buildertest.ErrCrashed)
}
