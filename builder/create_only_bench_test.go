package builder

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// BenchmarkCreateOnly is a pass over 1000 children that are created once, over a cache.
//
//	there  they exist
//	new    none does: what the builder adds to the time of the POSTs
func BenchmarkCreateOnly(b *testing.B) {
	const n = 1000
	wanted := make([]*appsv1.Deployment, n)
	for i := range wanted {
		wanted[i] = benchDeployment(i)
	}
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner", UID: "owner"}}
	setup := func(b *testing.B) (pass func() Result) {
		c := &cacheClient{byName: map[string]*appsv1.Deployment{}, byOwner: map[string][]runtime.Object{}}
		e := NewEngine(c, Options{})
		require.NoError(b, e.Index(b.Context(), c, &appsv1.Deployment{}))
		return func() Result {
			build := e.For(owner).Prune(&appsv1.Deployment{})
			for _, d := range wanted {
				build.Deployment(d, CreateOnly())
			}
			res, err := build.Reconcile(b.Context())
			require.NoError(b, err)
			return res
		}
	}
	perChild := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/child")
	}
	b.Run("there", func(b *testing.B) {
		pass := setup(b)
		require.Len(b, pass().Changes, n)
		b.ReportAllocs()
		for b.Loop() {
			require.Equal(b, n, pass().Unchanged)
		}
		perChild(b)
	})
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			pass := setup(b)
			b.StartTimer()
			require.Len(b, pass().Changes, n)
		}
		perChild(b)
	})
}
