//go:build !race

// The race detector changes what the compiler keeps on the stack.

package builder

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// A pass over 1,000 unchanged children allocates a number of times that doesn't depend on the number of children: BenchmarkUnchanged/warm
// measures 54. The limit leaves room for another version of Go, and not for one allocation a child.
func TestUnchangedPassAllocatesForNoChild(t *testing.T) {
	const children, limit = 1000, 60
	desired := make([]*appsv1.Deployment, children)
	for i := range desired {
		desired[i] = benchDeployment(i)
	}
	c := &cacheClient{byName: map[string]*appsv1.Deployment{}, byOwner: map[string][]runtime.Object{}}
	e := NewEngine(c, Options{})
	require.NoError(t, e.Index(t.Context(), c, &appsv1.Deployment{}))
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner", UID: "owner"}}
	pass := func() Result {
		build := e.For(owner).Prune(&appsv1.Deployment{})
		for _, d := range desired {
			build.Deployment(d)
		}
		res, err := build.Reconcile(t.Context())
		require.NoError(t, err)
		return res
	}
	require.Len(t, pass().Changes, children)
	c.becomeReady()
	require.Equal(t, children, pass().Unchanged)

	// The count includes allocations of goroutines that earlier tests have left, which end. So the lowest of several averages counts.
	fewest := testing.AllocsPerRun(10, func() { pass() })
	for range 4 {
		fewest = min(fewest, testing.AllocsPerRun(10, func() { pass() }))
	}
	assert.LessOrEqual(t, fewest, float64(limit))
}
