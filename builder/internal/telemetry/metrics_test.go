package telemetry

import (
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/armature-dev/armature/store"
)

func TestResultsAreAFixedList(t *testing.T) {
	pods := corev1.Resource("pods")
	for err, want := range map[error]string{
		nil: "success", errors.New("x"): "error",
		apierrors.NewConflict(pods, "p", nil):                                                 "conflict",
		apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), "p", nil): "invalid",
		apierrors.NewForbidden(pods, "p", nil):                                                "forbidden",
		apierrors.NewAlreadyExists(pods, "p"):                                                 "already_exists",
		apierrors.NewNotFound(pods, "p"):                                                      "not_found",
		apierrors.NewTimeoutError("t", 1):                                                     "error",
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

func TestSum(t *testing.T) {
	s := NewWaiting("test-sum")
	count := func() float64 { return testutil.ToFloat64(objectsWaiting.WithLabelValues("test-sum")) }
	a := store.Key{Kind: "ConfigMap", Namespace: "n", Name: "a"}
	b := store.Key{Kind: "ConfigMap", Namespace: "n", Name: "b"}

	s.Set(a, "", 0)
	assert.Zero(t, count())
	s.Set(a, "", 2)
	s.Set(a, "Job", 1)
	s.Set(b, "", 1)
	assert.EqualValues(t, 4, count())
	s.Set(a, "", 1)
	assert.EqualValues(t, 3, count())
	s.Forget(a)
	assert.EqualValues(t, 1, count(), "of all scopes")
	s.Forget(store.Key{Name: "none"})
	s.Set(b, "", 0)
	assert.Zero(t, count())
	assert.Empty(t, s.counts, "nothing is remembered of owners that wait for nothing")
}
