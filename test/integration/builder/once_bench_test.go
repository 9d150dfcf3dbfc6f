package builder_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/test/testcluster"
)

// BenchmarkCreateJobs is how long it takes until 1000 Jobs of an owner exist:
//
//	bare     the same client, which creates them, as many in parallel as the builder has
//	once     a Builder that wants them with CreateOnce
//	applied  a Builder that wants them without
func BenchmarkCreateJobs(b *testing.B) {
	const n = 1000
	cfg := testcluster.Config(b)
	cfg.QPS = -1
	live, err := client.New(cfg, client.Options{Scheme: testScheme()})
	require.NoError(b, err)
	mgr := newManager(b, cfg)
	c := mgr.GetClient()
	engine := builder.EngineFor(mgr, "bench")
	require.NoError(b, engine.Index(b.Context(), mgr.GetFieldIndexer(), &batchv1.Job{}))
	start(b, mgr)
	builders := func(opts ...builder.ChildOption) func(b *testing.B, owner *corev1.ConfigMap) {
		return func(b *testing.B, owner *corev1.ConfigMap) {
			want := engine.For(owner)
			for i := range n {
				want.Object(suspendedJob(fmt.Sprintf("job-%d", i)), opts...)
			}
			_, err := want.Reconcile(b.Context())
			require.NoError(b, err)
		}
	}
	bare := func(b *testing.B, owner *corev1.ConfigMap) {
		next := make(chan int)
		var wg sync.WaitGroup
		for range 32 { // as many requests as a pass has under way
			wg.Go(func() {
				for i := range next {
					job := suspendedJob(fmt.Sprintf("job-%d", i))
					job.Namespace = owner.Namespace
					job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
					if err := c.Create(b.Context(), job); err != nil {
						b.Error(err)
					}
				}
			})
		}
		for i := range n {
			next <- i
		}
		close(next)
		wg.Wait()
	}
	for _, way := range []struct {
		name   string
		create func(b *testing.B, owner *corev1.ConfigMap)
	}{{"bare", bare}, {"once", builders(builder.CreateOnly())}, {"applied", builders()}} {
		b.Run(way.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: testcluster.Namespace(b), Name: "owner"}}
				require.NoError(b, c.Create(b.Context(), owner))
				b.StartTimer()
				way.create(b, owner)
				b.StopTimer()
				require.NoError(b, live.DeleteAllOf(b.Context(), &batchv1.Job{}, client.InNamespace(owner.Namespace), client.PropagationPolicy("Background")))
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/1000")
		})
	}
}
