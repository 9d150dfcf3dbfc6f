package builder

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/store"
)

func TestWaitingIsCounted(t *testing.T) {
	e := engineWith(interceptor.Funcs{})
	e.waiting = newWaits(objectsWaiting.WithLabelValues("test-waits"))
	count := func() float64 { return testutil.ToFloat64(objectsWaiting.WithLabelValues("test-waits")) }
	a := store.Key{Kind: "ConfigMap", Namespace: "n", Name: "a"}
	b := store.Key{Kind: "ConfigMap", Namespace: "n", Name: "b"}

	e.waiting.set(a, "", 0)
	assert.Zero(t, count())
	e.waiting.set(a, "", 2)
	e.waiting.set(a, "Job", 1)
	e.waiting.set(b, "", 1)
	assert.EqualValues(t, 4, count())
	e.waiting.set(a, "", 1)
	assert.EqualValues(t, 3, count())
	e.Forget(&corev1.ConfigMap{}, types.NamespacedName{Namespace: "n", Name: "a"})
	assert.EqualValues(t, 1, count(), "of all scopes")
	e.Forget(&corev1.ConfigMap{}, types.NamespacedName{Namespace: "n", Name: "none"})
	e.Forget(nil, types.NamespacedName{})
	e.waiting.set(b, "", 0)
	assert.Zero(t, count())
	assert.Empty(t, e.waiting.counts, "nothing is kept of owners that wait for nothing")
}
