package builder

import (
	"context"
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/armature-dev/armature/store"
)

// counted returns the value of armature_builder_operations_total, 0 if there is none.
func counted(t *testing.T, controller, kind, operation, result string) float64 {
	return metric(t, "armature_builder_operations_total", map[string]string{
		"controller": controller, "kind": kind, "operation": operation, "result": result,
	})
}

// metric returns the value of a counter or gauge, 0 if there is none.
func metric(t *testing.T, name string, labels map[string]string) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			of := map[string]string{}
			for _, l := range m.GetLabel() {
				of[l.GetName()] = l.GetValue()
			}
			if f.GetName() == name && maps.Equal(of, labels) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return 0
}

func TestWritesAreCounted(t *testing.T) {
	base := engineWith(interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
		if obj.GetName() == "bad" {
			return invalid
		}
		return c.Create(ctx, obj, opts...)
	}})
	e := NewEngine(base.live.(client.Client), Options{Name: "test-writes"})
	ctx := t.Context()
	_, err := e.For(owner()).ConfigMap(config("a")).ConfigMap(config("bad")).Deployment(deployment("d")).Reconcile(ctx)
	require.Error(t, err)
	assert.EqualValues(t, 1, counted(t, e.name, "ConfigMap", "create", "success"))
	assert.EqualValues(t, 1, counted(t, e.name, "ConfigMap", "create", "invalid"))
	assert.EqualValues(t, 1, counted(t, e.name, "Deployment.apps", "create", "success"))

	_, err = e.For(owner()).ConfigMap(config("a")).Reconcile(ctx)
	require.NoError(t, err)
	assert.EqualValues(t, 1, counted(t, e.name, "ConfigMap", "create", "success"), "unchanged is no operation")

	d, err := e.For(owner()).ConfigMap(config("b")).Prune(&corev1.ConfigMap{}).Diff(ctx)
	require.NoError(t, err)
	assert.Len(t, d.Changes, 2)
	assert.EqualValues(t, 1, counted(t, e.name, "ConfigMap", "create", "success"), "nor is a rehearsal")

	_, err = e.For(owner()).Prune(&corev1.ConfigMap{}).Reconcile(ctx)
	require.NoError(t, err)
	assert.EqualValues(t, 1, counted(t, e.name, "ConfigMap", "delete", "success"))
}

func TestAnOwnerThatIsGoneWaitsForNothing(t *testing.T) {
	e := NewEngine(engineWith(interceptor.Funcs{}).live.(client.Client), Options{Name: "test-waits"})
	count := func() float64 {
		return metric(t, "armature_builder_objects_waiting", map[string]string{"controller": "test-waits"})
	}
	e.waiting.Set(store.Key{Kind: "ConfigMap", Namespace: "n", Name: "a"}, "", 2)
	e.waiting.Set(store.Key{Kind: "ConfigMap", Namespace: "n", Name: "b"}, "", 1)
	assert.EqualValues(t, 3, count())
	e.Forget(&corev1.ConfigMap{}, types.NamespacedName{Namespace: "n", Name: "none"})
	e.Forget(nil, types.NamespacedName{})
	assert.EqualValues(t, 3, count())
	e.Forget(&corev1.ConfigMap{}, types.NamespacedName{Namespace: "n", Name: "a"})
	assert.EqualValues(t, 1, count())
}
