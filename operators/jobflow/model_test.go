package jobflow

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/internal/testsize"
	"github.com/armature-dev/armature/operators/internal/origin"
	"github.com/armature-dev/armature/operators/internal/outcome"
	"github.com/armature-dev/armature/operators/jobflow/internal/graph"
)

// drawFlow returns a flow with expressions, lists of items, inputs, failures that are allowed, a rule for
// success, and nodes in finally.
func drawFlow(t *rapid.T) *v1alpha1.JobFlow {
	flow := makeFlow()
	plain := map[string]bool{} // nodes that have an output
	for i := range rapid.IntRange(1, testsize.Pick(8, 30)).Draw(t, "nodes") {
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
	rules := []string{"", "", "", "jobs.n0.succeeded", "jobs.exists(n, jobs[n].succeeded)"}
	flow.Spec.SuccessWhen = rapid.SampledFrom(rules).Draw(t, "success when")
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

// reference says how each node ends in an attempt if the Jobs of some names fail: all that the features promise, but for the order in
// which things happen. What has been done in earlier attempts, Job by Job, isn't done again.
func reference(flow *v1alpha1.JobFlow, retry int, done map[string]bool, fails func(job string) bool) map[string]v1alpha1.FlowState {
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
			key, job := fmt.Sprint(n.Name, "#", item), graph.JobName(flow.Name, n.Name, int32(retry))
			if item >= 0 {
				job = graph.ItemJobName(flow.Name, n.Name, item, int32(retry))
			}
			if done[key] = (done[key] && !again) || !fails(job); !done[key] {
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
	testsize.Cases(t, 30)
	scheme := testScheme(t)
	rapid.Check(t, func(t *rapid.T) {
		s := newSimulation(t, scheme)
		done := map[string]bool{}
		for retry := 0; ; retry++ {
			s.want = reference(s.flow, retry, done, s.fails)
			s.trouble()
			s.edit(func(spec *v1alpha1.JobFlowSpec) { spec.Suspend = false })
			s.lag(1, &batchv1.Job{}, &corev1.Pod{}) // a manager whose caches lag catches up at rest; one whose lag has just ended doesn't
			require.NoError(t, s.Idle(t.Context(), time.Hour))
			s.check()

			status := s.flow.Status
			require.NotNil(t, status.CompletionTime, "the flow doesn't end: %+v", status)
			require.EqualValues(t, retry, status.Retry)
			require.Equal(t, s.flow.Generation, status.ObservedGeneration)
			got := states(s.flow)
			if !s.flow.Spec.FailFast {
				require.Equal(t, s.want, got)
			}
			verdict := verdictOf(s.flow, got)
			require.Equal(t, verdict, status.State)
			require.Zero(t, s.plan(), "nothing is left to do")
			if verdict == v1alpha1.StateSucceed || retry == 2 {
				return
			}
			s.edit(func(spec *v1alpha1.JobFlowSpec) { spec.Retry++ })
		}
	})
}

// simulation is a simulated cluster with one flow, and what must be remembered of its past.
type simulation struct {
	*rapid.T
	*world.World
	user  *buildertest.Client
	fails func(job string) bool
	want  map[string]v1alpha1.FlowState

	flow     *v1alpha1.JobFlow // as of the last check
	jobs     []*batchv1.Job
	pods     []*corev1.Pod
	lagging  int
	retry    int                     // the attempt that the last Job was created in
	known    map[string]types.UID    // the Jobs, by their name
	rendered map[string]*batchv1.Job // the first rendering of a Job
}

func newSimulation(t *rapid.T, scheme *runtime.Scheme) *simulation {
	flow := drawFlow(t)
	seed := rapid.Uint32().Draw(t, "bad luck")
	fails := func(job string) bool {
		h := fnv.New32a()
		fmt.Fprint(h, seed, job)
		return h.Sum32()%5 == 0
	}
	server := buildertest.NewServer(scheme, buildertest.WithStatusSubresource(flow))
	require.NoError(t, server.Add(world.Node("n1"), flow))
	s := &simulation{
		T: t, user: server.Client("user"), fails: fails, flow: flow, known: map[string]types.UID{}, rendered: map[string]*batchv1.Job{},
		World: world.New(server, world.Options{Pods: func(pod *corev1.Pod) world.Script {
			script := world.Script{Ends: true, Message: "[1,2]"}
			if fails(pod.Labels[batchv1.JobNameLabel]) {
				script.ExitCode = 1
			}
			return script
		}}),
	}
	_, err := s.AddManager("manager", world.OperatorOf(Operator))
	require.NoError(t, err)
	s.check()
	return s
}

// trouble lets steps, crashes, stale caches and suspensions happen in any order.
func (s *simulation) trouble() {
	begin := s.Now()
	s.Repeat(map[string]func(*rapid.T){
		"steps": func(t *rapid.T) {
			for range rapid.IntRange(1, 20).Draw(t, "n") {
				steps, err := s.Steps()
				require.NoError(t, err)
				if len(steps) == 0 {
					return
				}
				require.NoError(t, steps[rapid.IntRange(0, len(steps)-1).Draw(t, "step")].Run(t.Context()))
				s.check()
			}
		},
		"crash": func(t *rapid.T) { s.Managers()[0].Client().CrashAfter(rapid.IntRange(0, 3).Draw(t, "writes")) },
		"lag": func(t *rapid.T) {
			kinds := [][]client.Object{{&batchv1.Job{}}, {&corev1.Pod{}}, {&batchv1.Job{}, &corev1.Pod{}}}
			s.lag(rapid.IntRange(0, 9).Draw(t, "changes"), rapid.SampledFrom(kinds).Draw(t, "kinds")...)
		},
		"suspend or resume": func(t *rapid.T) {
			if rapid.IntRange(0, 4).Draw(t, "rarely") == 0 {
				s.edit(func(spec *v1alpha1.JobFlowSpec) { spec.Suspend = !spec.Suspend })
			}
		},
		"time passes": func(*rapid.T) {
			if s.Now().Sub(begin) < 50*time.Second { // a cache that lags longer behind loses outputs
				s.Server().Clock().Step(time.Second)
			}
		},
	})
}

func (s *simulation) lag(changes int, kinds ...client.Object) {
	s.lagging = changes
	require.NoError(s, s.Managers()[0].Lag(changes, kinds...))
}

func (s *simulation) edit(change func(*v1alpha1.JobFlowSpec)) {
	s.check()
	change(&s.flow.Spec)
	require.NoError(s, s.user.Update(s.Context(), s.flow))
}

// check checks what always holds, after each step.
func (s *simulation) check() {
	s.flow, s.jobs, s.pods = &v1alpha1.JobFlow{}, nil, nil
	require.NoError(s, s.user.Get(s.Context(), client.ObjectKey{Namespace: "default", Name: "demo"}, s.flow))
	for _, object := range s.Server().Stored() {
		switch o := object.(type) {
		case *batchv1.Job:
			s.jobs = append(s.jobs, o)
		case *corev1.Pod:
			s.pods = append(s.pods, o)
		}
	}
	s.plan()
	for _, job := range s.jobs {
		uid, ok := s.known[job.Name]
		if ok {
			require.Equal(s, uid, job.UID, "%s was created more than once", job.Name)
			continue
		}
		s.known[job.Name] = job.UID
		s.retry = int(origin.Number(job.Labels, LabelRetry))
		s.checkStart(job)
	}
}

// checkStart checks that a Job may be created in the present state.
func (s *simulation) checkStart(job *batchv1.Job) {
	spec, name := &s.flow.Spec, job.Labels[LabelFlow]
	require.False(s, spec.Suspend, "%s is started in a suspended flow", name)
	require.True(s, spec.FailFast || s.want[name] != v1alpha1.FlowSkipped, "%s is to be skipped", name)
	for i := range spec.Flows {
		if n := &spec.Flows[i]; n.Name == name {
			for _, d := range n.Dependencies {
				require.True(s, s.ended(d), "%s starts, and %s hasn't ended", name, d)
			}
		}
		if strings.HasPrefix(name, "f") && !spec.FailFast { // which may skip what isn't yet observed to have been started
			require.True(s, s.ended(spec.Flows[i].Name), "%s starts, and %s hasn't ended", name, spec.Flows[i].Name)
		}
	}
	if spec.Parallelism != nil && s.lagging == 0 {
		active := slices.DeleteFunc(slices.Clone(s.jobs), s.hasEnded)
		require.LessOrEqual(s, len(active), int(*spec.Parallelism))
	}
}

// ended reports whether no Job of a node runs, as far as this attempt goes: with failFast one of an earlier may have been left behind.
func (s *simulation) ended(node string) bool {
	return !slices.ContainsFunc(s.jobs, func(job *batchv1.Job) bool {
		return job.Labels[LabelFlow] == node && int(origin.Number(job.Labels, LabelRetry)) == s.retry && !s.hasEnded(job)
	})
}

// hasEnded reports whether a Job has ended, or will, as its pod says.
func (s *simulation) hasEnded(job *batchv1.Job) bool {
	if outcome.Of(job).Ended != nil {
		return true
	}
	return s.flow.Spec.EndOfJob != v1alpha1.EndOfJobCondition && slices.ContainsFunc(s.pods, func(pod *corev1.Pod) bool {
		return metav1.IsControlledBy(pod, job) && (pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed)
	})
}

// plan returns the plan of the present state, and checks that it is a function of its input, in whatever order that comes.
func (s *simulation) plan() builder.Plan[*v1alpha1.JobFlow] {
	var objects []client.Object
	for _, job := range s.jobs {
		objects = append(objects, job)
	}
	for _, pod := range s.pods {
		objects = append(objects, pod)
	}
	flow := s.flow.DeepCopy()
	plan := Plan(flow, buildertest.NewView(s.Now(), objects...))
	require.Equal(s, s.flow, flow, "the flow was changed")
	slices.Reverse(objects)
	again := Plan(flow, buildertest.NewView(s.Now(), objects...))
	require.Equal(s, plan.Children, again.Children, "the plan depends on the order of the view")
	require.Equal(s, plan.Events, again.Events)
	require.Equal(s, plan.Status, again.Status)
	for _, child := range plan.Children {
		job := child.Object().(*batchv1.Job)
		if first := s.rendered[job.Name]; first != nil {
			require.Equal(s, first, job, "%s was rendered differently", job.Name)
		}
		s.rendered[job.Name] = job
	}
	return plan
}

func testScheme(t *testing.T) *runtime.Scheme {
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	return scheme
}
