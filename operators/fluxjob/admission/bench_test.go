package admission

import (
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest"
)

// BenchmarkPlan is one pass of a full queue over all that wait, from the objects of the API to the status.
func BenchmarkPlan(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		setup := makeSetup("q", clusters(1), cpus("100"), preempting, withReservations(makeJob("running", 0, holding)))
		objs := []client.Object{setup, makeJob("running", 0, holding)}
		for i := range n {
			objs = append(objs, makeJob(fmt.Sprintf("job-%d", i*7919%n), i))
		}
		view := buildertest.WithWatched(buildertest.NewView(at(10).Time), objs...)
		b.Run(fmt.Sprintf("waiting=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if p := Plan(setup, view); len(p.Status.Status.Reservations) != 1 {
					b.Fatal("there is room for one")
				}
			}
		})
	}
}
