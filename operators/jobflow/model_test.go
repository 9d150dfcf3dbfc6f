package jobflow

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// drawFlow returns a flow of up to 30 nodes, with expressions, lists of items, inputs, failures that are allowed, a rule for
// success, and nodes in finally.
func drawFlow(t *rapid.T) *v1alpha1.JobFlow {
	flow := makeFlow()
	plain := map[string]bool{} // nodes that have an output
	for i := range rapid.IntRange(1, 30).Draw(t, "nodes") {
		n := node(fmt.Sprint("n", i))
		if i > 0 {
			for _, d := range rapid.SliceOfNDistinct(rapid.IntRange(0, i-1), 0, 4, rapid.ID[int]).Draw(t, "dependencies") {
				n.Dependencies = append(n.Dependencies, fmt.Sprint("n", d))
			}
		}
		drawExtras(t, &n, plain)
		n.AllowFailure = rapid.IntRange(0, 3).Draw(t, "may fail") == 0
		plain[n.Name] = n.ForEach == nil
		flow.Spec.Flows = append(flow.Spec.Flows, n)
	}
	flow.Spec.Flows = rapid.Permutation(flow.Spec.Flows).Draw(t, "order")
	for i := range rapid.IntRange(0, 2).Draw(t, "finally") {
		n := node(fmt.Sprint("f", i))
		n.When = rapid.SampledFrom([]string{"", "", `state == "Failed"`, `jobs.n0.succeeded`}).Draw(t, "when")
		n.AllowFailure = rapid.IntRange(0, 3).Draw(t, "may fail") == 0
		flow.Spec.Finally = append(flow.Spec.Finally, n)
	}
	flow.Spec.SuccessWhen = rapid.SampledFrom([]string{"", "", "", "jobs.n0.succeeded", "jobs.exists(n, jobs[n].succeeded)"}).Draw(t, "success when")
	flow.Spec.FailFast = rapid.IntRange(0, 5).Draw(t, "fail fast") == 0
	if rapid.IntRange(0, 3).Draw(t, "bounded") == 0 {
		flow.Spec.Parallelism = new(rapid.Int32Range(1, 4).Draw(t, "parallelism"))
	}
	if rapid.IntRange(0, 3).Draw(t, "wait for conditions") == 0 {
		flow.Spec.EndOfJob = v1alpha1.EndOfJobCondition
	}
	return flow
}

// drawExtras gives a node an expression, items, or inputs.
func drawExtras(t *rapid.T, n *v1alpha1.Flow, plain map[string]bool) {
	var from []string
	for _, d := range n.Dependencies {
		if plain[d] {
			from = append(from, d)
		}
	}
	switch kind := rapid.IntRange(0, 9).Draw(t, "extra"); {
	case kind == 0:
		n.ForEach = &v1alpha1.ForEach{Items: []string{"x", "y", "z"}[:rapid.IntRange(0, 3).Draw(t, "items")]}
	case kind == 1 && len(from) > 0:
		n.ForEach = &v1alpha1.ForEach{FromOutput: from[0], MaxParallel: ptr.To[int32](1)}
	case kind == 2 && len(from) > 0:
		n.Inputs = []v1alpha1.Input{{Env: "INPUT", From: from[0]}}
	case kind <= 4 && len(from) > 0 && from[0] == n.Dependencies[0]:
		d := n.Dependencies[0]
		n.When = rapid.SampledFrom([]string{
			"jobs." + d + ".failed || jobs." + d + ".skipped", "!jobs." + d + ".failed", "jobs.all(n, !jobs[n].failed)",
			"jobs." + d + `.output == "[1,2]"`, "false", "int(jobs." + d + ".output) > 0",
		}).Draw(t, "when")
	}
}

// reference says how each node ends in an attempt if its Jobs are meant to fail as told: all that the features promise,
// but for the order in which things happen. What has been done in earlier attempts, Job by Job, isn't done again.
func reference(flow *v1alpha1.JobFlow, retry int, done map[string]bool, meant meaning) map[string]v1alpha1.FlowState {
	ends := map[string]v1alpha1.FlowState{}
	run := func(n *v1alpha1.Flow, again bool) v1alpha1.FlowState {
		items := []int{-1}
		if n.ForEach != nil {
			items = []int{0, 1, 2}[:len(n.ForEach.Items)]
			if from := n.ForEach.FromOutput; from != "" {
				if items = []int{0, 1}; ends[from] != v1alpha1.FlowSucceed {
					return v1alpha1.FlowFailed // there is no output
				}
			}
		}
		end := v1alpha1.FlowSucceed
		for _, item := range items {
			job := fmt.Sprint(n.Name, "#", item)
			if done[job] = (done[job] && !again) || !meant.fails(n.Name, item, retry); !done[job] {
				end = v1alpha1.FlowFailed
			}
		}
		return end
	}
	for len(ends) < len(flow.Spec.Flows) {
		for i := range flow.Spec.Flows {
			n := &flow.Spec.Flows[i]
			if ends[n.Name] != "" || slices.ContainsFunc(n.Dependencies, func(d string) bool { return ends[d] == "" }) {
				continue
			}
			ready, err := whenOf(flow, n, ends)
			switch {
			case done[n.Name]:
				ends[n.Name] = v1alpha1.FlowSucceed
			case err:
				ends[n.Name] = v1alpha1.FlowFailed
			case !ready:
				ends[n.Name] = v1alpha1.FlowSkipped
			default:
				ends[n.Name] = run(n, false)
				done[n.Name] = ends[n.Name] == v1alpha1.FlowSucceed
			}
		}
	}
	verdict := verdictOf(flow, ends)
	for i := range flow.Spec.Finally {
		n := &flow.Spec.Finally[i]
		ends[n.Name] = v1alpha1.FlowSkipped
		if n.When == "" || n.When == `state == "Failed"` && verdict == v1alpha1.StateFailed ||
			strings.HasPrefix(n.When, "jobs.") && ends["n0"] == v1alpha1.FlowSucceed {
			ends[n.Name] = run(n, true)
		}
	}
	return ends
}

// whenOf evaluates the expressions of drawExtras.
func whenOf(flow *v1alpha1.JobFlow, n *v1alpha1.Flow, ends map[string]v1alpha1.FlowState) (ready, err bool) {
	is := func(s v1alpha1.FlowState) func(string) bool { return func(d string) bool { return ends[d] == s } }
	first := func(s v1alpha1.FlowState) bool { return ends[n.Dependencies[0]] == s }
	switch {
	case n.When == "":
		return !slices.ContainsFunc(n.Dependencies, func(d string) bool {
			return ends[d] != v1alpha1.FlowSucceed && (ends[d] != v1alpha1.FlowFailed || !mayFail(flow, d))
		}), false
	case strings.HasSuffix(n.When, ".skipped"):
		return first(v1alpha1.FlowFailed) || first(v1alpha1.FlowSkipped), false
	case strings.HasPrefix(n.When, "!"):
		return !first(v1alpha1.FlowFailed), false
	case strings.HasPrefix(n.When, "jobs.all"):
		return !slices.ContainsFunc(n.Dependencies, is(v1alpha1.FlowFailed)), false
	case strings.HasSuffix(n.When, "== \"[1,2]\""):
		return first(v1alpha1.FlowSucceed), false
	case n.When == "false":
		return false, false
	default: // int() of what is no number
		return false, true
	}
}

func mayFail(flow *v1alpha1.JobFlow, name string) bool {
	return slices.ContainsFunc(slices.Concat(flow.Spec.Flows, flow.Spec.Finally), func(n v1alpha1.Flow) bool {
		return n.Name == name && n.AllowFailure
	})
}

// verdictOf is how a flow ends whose nodes have ended so. Those in finally may be missing.
func verdictOf(flow *v1alpha1.JobFlow, ends map[string]v1alpha1.FlowState) v1alpha1.State {
	bad := func(nodes []v1alpha1.Flow) bool {
		return slices.ContainsFunc(nodes, func(n v1alpha1.Flow) bool { return ends[n.Name] == v1alpha1.FlowFailed && !n.AllowFailure })
	}
	flowsBad := bad(flow.Spec.Flows)
	switch flow.Spec.SuccessWhen {
	case "":
	case "jobs.n0.succeeded":
		flowsBad = ends["n0"] != v1alpha1.FlowSucceed
	default:
		flowsBad = !slices.ContainsFunc(flow.Spec.Flows, func(n v1alpha1.Flow) bool { return ends[n.Name] == v1alpha1.FlowSucceed })
	}
	if flowsBad || bad(flow.Spec.Finally) {
		return v1alpha1.StateFailed
	}
	return v1alpha1.StateSucceed
}

// TestModel runs random flows through random trouble, and holds them to the reference.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		flow := drawFlow(t)
		bad := rapid.SliceOfN(rapid.IntRange(0, 9), 97, 97).Draw(t, "bad luck")
		meant := meaning{
			fails: func(node string, item, retry int) bool {
				return bad[(len(node)*31+int(node[len(node)-1])*7+item*5+retry*3)%97] < 2
			},
			output: func(string) string { return "[1,2]" },
		}
		w := newWorld(t, flow, meant)
		done := map[string]bool{}
		for retry := 0; ; retry++ {
			want := reference(flow, retry, done, meant)
			trouble(t, w, want)
			require.True(t, w.settle(), "the flow doesn't end: %+v", w.flow.Status)

			got := states(w.flow)
			if !w.flow.Spec.FailFast {
				require.Equal(t, want, got)
			}
			verdict := verdictOf(flow, got)
			assert.Equal(t, verdict, w.flow.Status.State)
			for name, times := range w.created {
				assert.Equal(t, 1, times, "%s was created more than once", name)
			}
			rest := w.plan(w.jobs(), of[*corev1.Pod](w.objects))
			assert.Zero(t, rest, "nothing is left to do")
			if verdict == v1alpha1.StateSucceed || retry == 2 {
				return
			}
			w.flow = w.flow.DeepCopy()
			w.flow.Spec.Retry++
			w.flow.Generation++
			flow = w.flow
		}
	})
}

// trouble lets passes, work, crashes, stale views and suspensions happen in any order.
func trouble(t *rapid.T, w *world, want map[string]v1alpha1.FlowState) {
	ended := func(node string) bool { // as the Jobs of this attempt say; with failFast one of an earlier may have been left behind
		for _, job := range w.jobs() {
			if name, _, retry := labelsOf(job); name == node && retry == w.retry && len(job.Status.Conditions) == 0 && len(podsOfJob(w, job)) == 0 {
				return false
			}
		}
		return true
	}
	w.check = func(job *batchv1.Job) {
		name, _, retry := labelsOf(job)
		w.retry = retry
		require.True(t, w.flow.Spec.FailFast || want[name] != v1alpha1.FlowSkipped, "%s is to be skipped", name)
		for i := range w.flow.Spec.Flows {
			if n := &w.flow.Spec.Flows[i]; n.Name == name {
				for _, d := range n.Dependencies {
					require.True(t, ended(d), "%s starts, and %s hasn't ended", name, d)
				}
			}
		}
		if strings.HasPrefix(name, "f") && !w.flow.Spec.FailFast { // which may skip what isn't yet seen to have been started
			for i := range w.flow.Spec.Flows {
				other := w.flow.Spec.Flows[i].Name
				require.True(t, ended(other), "%s starts, and %s hasn't ended", name, other)
			}
		}
		require.False(t, w.flow.Spec.Suspend && w.objects["*v1.Job "+job.Name] == nil, "%s is started in a suspended flow", name)
		if p := w.flow.Spec.Parallelism; p != nil && w.jobView == len(w.history)-1 && w.podView == len(w.history)-1 {
			require.LessOrEqual(t, len(w.active()), int(*p)+len(w.flow.Spec.Flows)) // of what is seen; see TestParallelism
		}
	}
	t.Repeat(map[string]func(*rapid.T){
		"pass": func(*rapid.T) { w.pass() },
		"work": func(t *rapid.T) {
			if jobs := w.active(); len(jobs) > 0 {
				w.work(rapid.SampledFrom(jobs).Draw(t, "job"))
			}
		},
		"suspend": func(t *rapid.T) {
			if rapid.IntRange(0, 4).Draw(t, "rarely") == 0 {
				w.flow = w.flow.DeepCopy()
				w.flow.Spec.Suspend = !w.flow.Spec.Suspend
				w.flow.Generation++
			}
		},
	})
	if w.flow.Spec.Suspend {
		w.flow = w.flow.DeepCopy()
		w.flow.Spec.Suspend = false
		w.flow.Generation++
	}
}

func podsOfJob(w *world, job *batchv1.Job) []*corev1.Pod {
	var own []*corev1.Pod
	for _, pod := range of[*corev1.Pod](w.objects) {
		if pod.OwnerReferences[0].UID == job.UID {
			own = append(own, pod)
		}
	}
	return own
}
