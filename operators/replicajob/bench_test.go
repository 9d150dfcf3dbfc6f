package replicajob

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
)

// BenchmarkPlan plans a job of so many workers: when none of its pods is there, when all run and nothing has changed, and
// when half of them have succeeded. The view is made outside of the time.
func BenchmarkPlan(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10000} {
		started := newCluster(b, makeJob(replicas("Worker", int32(n)), success("AllWorkers")))
		started.pass()
		missing := started.job
		started.settle()
		started.run()

		half := newCluster(b, started.job)
		for i := range n {
			name := PodName("demo", "Worker", i)
			half.pods[name] = started.pods[name]
			if i%2 == 0 {
				half.ends(0, name)
			}
		}
		for name, c := range map[string]struct {
			job  *v1alpha1.ReplicaJob
			pods map[string]*corev1.Pod
		}{
			"missing": {missing, nil},
			"running": {started.job, started.pods},
			"halfway": {started.job, half.pods},
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				var seen []client.Object
				for _, p := range c.pods {
					seen = append(seen, p)
				}
				view := buildertest.NewView(epoch, seen...)
				b.ReportAllocs()
				for b.Loop() {
					started.kind.Plan(c.job, view)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/pod")
			})
		}
	}
}
