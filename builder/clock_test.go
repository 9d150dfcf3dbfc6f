package builder

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A preview on a laptop must plan as the manager does, also where a plan reads the hour. The builder itself measures with the monotonic
// clock, so that no wait becomes longer when the node's time is set back.
func TestAPlanSeesUTCAndWaitsAreMonotonic(t *testing.T) {
	var seen time.Time
	o := NewOperator[*corev1.ConfigMap](nil, "test").Plan(func(_ *corev1.ConfigMap, view View) Plan[*corev1.ConfigMap] {
		seen = view.Now
		return Plan[*corev1.ConfigMap]{}
	})
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner", UID: "1"}}
	o.engine = NewEngine(fake.NewClientBuilder().WithObjects(owner).Build(), Options{})
	r, err := o.newReconciler()
	require.NoError(t, err)
	_, err = r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(owner)})
	require.NoError(t, err)
	assert.Same(t, time.UTC, seen.Location())
	assert.Contains(t, r.now().String(), " m=")
	assert.Contains(t, o.engine.now().String(), " m=")
}
