package jobflow

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
)

// world is a cluster with one flow and an operator that may crash and may see old Jobs.
type world struct {
	t         *rapid.T
	flow      *v1alpha1.JobFlow
	fails     map[string]bool // nodes whose Jobs fail
	templates []client.Object

	jobs    map[string]*batchv1.Job   // by name, as they are
	history []map[string]*batchv1.Job // as they were after each change
	view    int                       // how much of the history the operator has seen
	seconds int

	rendered  map[string]*batchv1.Job // the first Job created for a node
	created   map[string]int
	deleted   bool            // someone deleted a Job
	succeeded map[string]bool // nodes of which a Job has ever succeeded
}

func newWorld(t *rapid.T) *world {
	w := &world{
		t: t, flow: makeFlow(), fails: map[string]bool{}, jobs: map[string]*batchv1.Job{},
		rendered: map[string]*batchv1.Job{}, created: map[string]int{}, succeeded: map[string]bool{},
	}
	n := rapid.IntRange(1, 30).Draw(t, "nodes")
	for i := range n {
		node := node(fmt.Sprint("n", i))
		if rapid.IntRange(0, 4).Draw(t, "template") == 0 {
			node = nodeRef(node.Name, fmt.Sprint("t", rapid.IntRange(0, 2).Draw(t, "of")))
		}
		if i > 0 {
			for _, d := range rapid.SliceOfNDistinct(rapid.IntRange(0, i-1), 0, 4, rapid.ID[int]).Draw(t, "dependencies") {
				node.Dependencies = append(node.Dependencies, fmt.Sprint("n", d))
			}
		}
		w.fails[node.Name] = rapid.IntRange(0, 5).Draw(t, "fails") == 0
		w.flow.Spec.Flows = append(w.flow.Spec.Flows, node)
	}
	w.flow.Spec.GlobalParams = v1alpha1.GlobalParams{
		NodeName: "minikube", Labels: map[string]string{"k": "v"}, Env: []corev1.EnvVar{{Name: "FOO", Value: "bar"}},
	}
	w.flow.Spec.Flows = rapid.Permutation(w.flow.Spec.Flows).Draw(t, "order")
	w.happened()
	return w
}

// happened adds to the history what the Jobs are now.
func (w *world) happened() { w.history = append(w.history, maps.Clone(w.jobs)) }

// pass runs the plan on what the operator sees, and carries out as much of it as the crash lets it.
func (w *world) pass() {
	w.seconds++
	w.view = rapid.IntRange(w.view, len(w.history)-1).Draw(w.t, "view")
	seen := slices.SortedFunc(maps.Values(w.history[w.view]), byName)
	plan := w.plan(seen)
	limit := len(plan.Children)
	crash := rapid.IntRange(0, 4).Draw(w.t, "crash") == 0
	if crash {
		limit = rapid.IntRange(0, limit).Draw(w.t, "writes")
		w.view = rapid.IntRange(0, len(w.history)-1).Draw(w.t, "view of the next life")
	}
	for _, child := range plan.Children[:limit] {
		w.create(child.Object().(*batchv1.Job))
	}
	if plan.Status != nil && !crash {
		w.flow = plan.Status
	}
}

// plan calls Plan, and checks that it is a function of its input, in whatever order that comes.
func (w *world) plan(jobs []*batchv1.Job) builder.Plan[*v1alpha1.JobFlow] {
	run := func(jobs []*batchv1.Job) builder.Plan[*v1alpha1.JobFlow] {
		var objs []client.Object
		var copies []*batchv1.Job
		for _, job := range jobs {
			objs = append(objs, job)
			copies = append(copies, job.DeepCopy())
		}
		var templates []client.Object
		for _, template := range w.templates {
			templates = append(templates, template.DeepCopyObject().(client.Object))
		}
		before := w.flow.DeepCopy()
		plan := Plan(w.flow, builder.NewView(epoch.Add(time.Duration(w.seconds)*time.Second), objs...).WithReferred(w.templates...))
		require.Equal(w.t, before, w.flow, "the flow was changed")
		require.Equal(w.t, copies, jobs, "a Job was changed")
		require.Equal(w.t, templates, w.templates, "a JobTemplate was changed")
		return plan
	}
	plan := run(jobs)
	slices.Reverse(jobs)
	require.Equal(w.t, plan, run(jobs), "the plan depends on the order of the view")
	return plan
}

func (w *world) create(job *batchv1.Job) {
	node := job.Labels[LabelFlow]
	for _, n := range w.flow.Spec.Flows {
		if n.Name == node {
			for _, d := range n.Dependencies {
				require.True(w.t, w.succeeded[d], "%s starts, and %s hasn't succeeded", node, d)
			}
		}
	}
	require.False(w.t, final(states(w.flow)[node]), "%s starts again after its end", node)
	if first := w.rendered[node]; first != nil {
		require.Equal(w.t, first, job, "%s was rendered differently", node)
	}
	w.rendered[node] = job
	if w.jobs[job.Name] != nil {
		return // AlreadyExists
	}
	w.created[node]++
	w.jobs[job.Name] = job.DeepCopy()
	w.happened()
}

// end lets a running Job end as its node is meant to.
func (w *world) end(name string) {
	job := w.jobs[name].DeepCopy()
	node := job.Labels[LabelFlow]
	job.Status = complete(node).Status
	if w.fails[node] {
		job.Status = failed(node).Status
	} else {
		w.succeeded[node] = true
	}
	w.jobs[name] = job
	w.happened()
}

func (w *world) running() []string {
	var names []string
	for name, job := range w.jobs {
		if len(job.Status.Conditions) == 0 {
			names = append(names, name)
		}
	}
	return slices.Sorted(slices.Values(names))
}

// reference evaluates a flow without Jobs: the state each node must end in.
func reference(flow *v1alpha1.JobFlow, fails map[string]bool) map[string]v1alpha1.FlowState {
	ends := map[string]v1alpha1.FlowState{}
	for len(ends) < len(flow.Spec.Flows) {
	nodes:
		for _, n := range flow.Spec.Flows {
			end := v1alpha1.FlowSucceed
			if fails[n.Name] {
				end = v1alpha1.FlowFailed
			}
			for _, d := range n.Dependencies {
				if ends[d] == "" {
					continue nodes
				}
				if ends[d] != v1alpha1.FlowSucceed {
					end = v1alpha1.FlowSkipped
				}
			}
			ends[n.Name] = end
		}
	}
	return ends
}

func TestFlowsEndAsTheReferenceSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		t.Repeat(map[string]func(*rapid.T){
			"pass": func(*rapid.T) { w.pass() },
			"end": func(t *rapid.T) {
				if names := w.running(); len(names) > 0 {
					w.end(rapid.SampledFrom(names).Draw(t, "job"))
				}
			},
			"delete": func(t *rapid.T) {
				if len(w.jobs) > 0 && rapid.IntRange(0, 9).Draw(t, "rarely") == 0 {
					delete(w.jobs, rapid.SampledFrom(slices.Sorted(maps.Keys(w.jobs))).Draw(t, "job"))
					w.deleted = true
					w.happened()
				}
			},
			"template": func(t *rapid.T) {
				if len(w.templates) < 3 {
					w.templates = append(w.templates, jobTemplate(fmt.Sprint("t", len(w.templates))))
				}
			},
		})
		for i := range 3 {
			w.templates = append(w.templates, jobTemplate(fmt.Sprint("t", i)))
		}
		for range 2*len(w.flow.Spec.Flows) + 2 { // from here on nothing goes wrong
			if w.flow.Status.CompletionTime != nil {
				break
			}
			w.seconds++
			for _, child := range w.planNow() {
				w.create(child.Object().(*batchv1.Job))
			}
			for _, name := range w.running() {
				w.end(name)
			}
		}

		want := reference(w.flow, w.fails)
		assert.Equal(t, want, states(w.flow))
		verdict := v1alpha1.StateSucceed
		for node, end := range want {
			if end == v1alpha1.FlowFailed {
				verdict = v1alpha1.StateFailed
			}
			if end == v1alpha1.FlowSkipped {
				assert.Zero(t, w.created[node], "%s should have been skipped", node)
			} else if !w.deleted {
				assert.Equal(t, 1, w.created[node], "%s should have been created once", node)
			}
		}
		assert.Equal(t, verdict, w.flow.Status.State)
		assert.NotNil(t, w.flow.Status.CompletionTime)
		assert.Zero(t, w.plan(slices.Collect(maps.Values(w.jobs))), "nothing is left to do")
	})
}

// planNow runs a pass that sees everything and doesn't crash, and returns the Jobs to create.
func (w *world) planNow() []builder.Child {
	plan := w.plan(slices.SortedFunc(maps.Values(w.jobs), byName))
	if plan.Status != nil {
		w.flow = plan.Status
	}
	return plan.Children
}

func byName(a, b *batchv1.Job) int {
	if a.Name < b.Name {
		return -1
	}
	return 1
}
