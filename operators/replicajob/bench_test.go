package replicajob

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
)

// BenchmarkPlan plans a job of so many workers: when none of its pods exists, when all run and nothing has changed, and when half of them
// have succeeded. The view is made outside of the time.
func BenchmarkPlan(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10000} {
		job := makeJob(started, replicas("Worker", int32(n)), success("AllWorkers"))
		recorded := func(pods []client.Object) *v1alpha1.ReplicaJob {
			return ReplicaJobs.Plan(job, buildertest.NewView(epoch, pods...)).Status
		}
		running := podsOf(job, ready)
		half := podsOf(job, ready, func(p *corev1.Pod) {
			if label(p, LabelIndex)%2 == 0 {
				end(p, 0, metav1.NewTime(epoch))
			}
		})
		for name, c := range map[string]struct {
			job  *v1alpha1.ReplicaJob
			pods []client.Object
		}{
			"missing": {recorded(nil), nil},
			"running": {recorded(running), running},
			"halfway": {recorded(running), half},
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				view := buildertest.NewView(epoch, c.pods...)
				b.ReportAllocs()
				for b.Loop() {
					ReplicaJobs.Plan(c.job, view)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/pod")
			})
		}
	}
}
