package daemonjob

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// styles are names of nodes that have numbers, and of nodes in the style of clouds, whose Jobs' names need a hash.
var styles = map[string]func(i int) string{
	"numbered": func(i int) string { return fmt.Sprint("worker-", i) },
	"dotted":   func(i int) string { return fmt.Sprintf("ip-10-0-%d-%d.eu-west-1.compute.internal", i/250, i%250) },
}

// BenchmarkPlan measures a pass: the first, which makes all Jobs; one in which a Job has ended; and one that has nothing
// to do while all run, or half of them.
func BenchmarkPlan(b *testing.B) {
	for style, name := range styles {
		for _, n := range []int{2000, 10000} {
			cluster := func() *world {
				w := newWorld(makeJob())
				for i := range n {
					node := makeNode(name(i), tainted("node.kubernetes.io/disk-pressure", corev1.TaintEffectPreferNoSchedule))
					w.nodes[node.Name] = node
				}
				return w
			}
			running := func() *world {
				w := cluster()
				w.pass()
				w.pass()
				return w
			}
			for _, c := range []struct {
				name string
				at   func() *world
			}{
				{"start", cluster},
				{"no-op/all run", running},
				{"no-op/half have ended", func() *world {
					w := running()
					for i := range n / 2 {
						w.completeJob(JobName("demo", name(2*i)))
					}
					w.pass()
					return w
				}},
				{"one ends", func() *world {
					w := running()
					for i := range n / 2 {
						w.completeJob(JobName("demo", name(2*i)))
					}
					w.pass()
					w.completeJob(JobName("demo", name(1)))
					return w
				}},
			} {
				b.Run(fmt.Sprintf("%s/%d/%s", style, n, c.name), func(b *testing.B) {
					w := c.at()
					view := w.view()
					b.ReportAllocs()
					for b.Loop() {
						Plan(w.job, view)
					}
				})
			}
		}
	}
}
