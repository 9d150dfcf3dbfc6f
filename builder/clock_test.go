package builder

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// A preview on a laptop must plan as the manager does, also where a plan reads the hour.
func TestTheClockIsInUTC(t *testing.T) {
	o := NewOperator[*corev1.ConfigMap](nil, "test").Plan(func(*corev1.ConfigMap, View) Plan[*corev1.ConfigMap] { return Plan[*corev1.ConfigMap]{} })
	o.engine = NewEngine(fake.NewClientBuilder().Build(), Options{})
	r, err := o.newReconciler()
	require.NoError(t, err)
	assert.Same(t, time.UTC, r.now().Location())
	assert.Same(t, time.UTC, o.engine.now().Location())
}
