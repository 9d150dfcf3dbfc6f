package builder

import (
	"context"
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

func counted(controller, kind, operation, result string) float64 {
	return testutil.ToFloat64(operationsTotal.WithLabelValues(controller, kind, operation, result))
}

func TestWritesAreCounted(t *testing.T) {
	base := engineWith(interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
		if obj.GetName() == "bad" {
			return invalid
		}
		return c.Create(ctx, obj, opts...)
	}})
	e := NewEngine(base.kinds.client, Options{Name: "test-writes"})
	ctx := t.Context()
	_, err := e.For(owner()).ConfigMap(config("a")).ConfigMap(config("bad")).Deployment(deployment("d")).Reconcile(ctx)
	require.Error(t, err)
	assert.EqualValues(t, 1, counted(e.name, "ConfigMap", "create", "success"))
	assert.EqualValues(t, 1, counted(e.name, "ConfigMap", "create", "invalid"))
	assert.EqualValues(t, 1, counted(e.name, "Deployment.apps", "create", "success"))

	_, err = e.For(owner()).ConfigMap(config("a")).Reconcile(ctx)
	require.NoError(t, err)
	assert.EqualValues(t, 1, counted(e.name, "ConfigMap", "create", "success"), "unchanged is no operation")

	d, err := e.For(owner()).ConfigMap(config("b")).Prune(&corev1.ConfigMap{}).Diff(ctx)
	require.NoError(t, err)
	assert.Len(t, d.Objects, 2)
	assert.EqualValues(t, 1, counted(e.name, "ConfigMap", "create", "success"), "nor is a rehearsal")

	_, err = e.For(owner()).Prune(&corev1.ConfigMap{}).Reconcile(ctx)
	require.NoError(t, err)
	assert.EqualValues(t, 1, counted(e.name, "ConfigMap", "delete", "success"))
}

func TestResultsAreAFixedList(t *testing.T) {
	for err, want := range map[error]string{
		nil: "success", conflict: "conflict", invalid: "invalid", full: "forbidden", errors.New("x"): "error",
		apierrors.NewAlreadyExists(corev1.Resource("pods"), "p"): "already_exists",
		apierrors.NewNotFound(corev1.Resource("pods"), "p"):      "not_found",
		apierrors.NewTimeoutError("t", 1):                        "error",
	} {
		assert.Equal(t, want, resultOf(err), "%v", err)
	}
}

func TestMetricsAreRegisteredAndWellNamed(t *testing.T) {
	operationsTotal.WithLabelValues("lint", "ConfigMap", "create", "success")
	for _, c := range []prometheus.Collector{operationsTotal, applyDuration, driftCorrectedTotal, objectsWaiting} {
		var already prometheus.AlreadyRegisteredError
		assert.ErrorAs(t, metrics.Registry.Register(c), &already)
		problems, err := testutil.CollectAndLint(c)
		require.NoError(t, err)
		assert.Empty(t, problems)
	}
}
