package daemonjob

import (
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
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
			running := func() *snapshots {
				c := newSnapshots(n, name)
				c.pass()
				c.pass()
				return c
			}
			halfDone := func() *snapshots {
				c := running()
				for i := range n / 2 {
					c.complete(JobName("demo", name(2*i)))
				}
				c.pass()
				return c
			}
			for _, c := range []struct {
				name string
				at   func() *snapshots
			}{
				{"start", func() *snapshots { return newSnapshots(n, name) }},
				{"no-op/all run", running},
				{"no-op/half have ended", halfDone},
				{"one ends", func() *snapshots {
					c := halfDone()
					c.complete(JobName("demo", name(1)))
					return c
				}},
			} {
				b.Run(fmt.Sprintf("%s/%d/%s", style, n, c.name), func(b *testing.B) {
					at := c.at()
					view := at.view()
					b.ReportAllocs()
					for b.Loop() {
						Plan(at.job, view)
					}
				})
			}
		}
	}
}

// snapshots is a DaemonJob with its nodes and Jobs, as plans leave them.
type snapshots struct {
	job   *v1alpha1.DaemonJob
	nodes []*corev1.Node
	jobs  map[string]*batchv1.Job
}

func newSnapshots(n int, name func(int) string) *snapshots {
	s := &snapshots{job: makeJob(), jobs: map[string]*batchv1.Job{}}
	for i := range n {
		s.nodes = append(s.nodes, makeNode(name(i), tainted("node.kubernetes.io/disk-pressure", corev1.TaintEffectPreferNoSchedule)))
	}
	return s
}

func (s *snapshots) view() builder.View {
	var jobs []client.Object
	for _, j := range s.jobs {
		jobs = append(jobs, j)
	}
	return buildertest.WithWatched(buildertest.NewView(epoch, jobs...), s.nodes...)
}

func (s *snapshots) pass() {
	plan := Plan(s.job, s.view())
	for _, c := range plan.Children {
		s.jobs[c.Object().GetName()] = c.Object().(*batchv1.Job)
	}
	if plan.Status != nil {
		s.job = plan.Status
	}
}

func (s *snapshots) complete(job string) {
	s.jobs[job].Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: at(0)}}
}
