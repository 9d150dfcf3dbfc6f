package replicajob

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/events"
)

type podsByName = map[string]*corev1.Pod

// history is a cluster with one job, to which things happen at random, and an operator that crashes at random and whose
// cache is behind.
type history struct {
	t       *rapid.T
	kind    Kind[*v1alpha1.ReplicaJob]
	job     *v1alpha1.ReplicaJob
	pods    podsByName
	seconds int
	serial  int

	jobs    []*v1alpha1.ReplicaJob // what the job was after each change
	past    []podsByName           // what the pods were after each change
	sawJob  int                    // how much of these the operator has seen
	sawPods int

	failures map[types.UID]v1alpha1.FailureAction // of pods that failed by themselves
	again    int32                                // pods deleted to be made again, that count against the limit
	succeeds map[string]bool                      // names and attempts of pods that have succeeded
}

func newHistory(t *rapid.T, job *v1alpha1.ReplicaJob) *history {
	h := &history{
		t: t, kind: ReplicaJobs, job: job, pods: podsByName{},
		failures: map[types.UID]v1alpha1.FailureAction{}, succeeds: map[string]bool{},
	}
	h.happened()
	return h
}

// drawJob draws a job in which someone decides.
func drawJob(t *rapid.T) *v1alpha1.ReplicaJob {
	job := makeJob(replicas("Worker", rapid.Int32Range(1, 3).Draw(t, "workers"), drawPolicy(t)))
	for _, other := range []v1alpha1.ReplicaType{"Chief", "PS"} {
		if n := rapid.Int32Range(0, 2).Draw(t, string(other)); n > 0 {
			replicas(other, n, drawPolicy(t))(job)
		}
	}
	if rapid.Bool().Draw(t, "limited") {
		job.Spec.RunPolicy.BackoffLimit = new(rapid.Int32Range(0, 4).Draw(t, "limit"))
	}
	if rapid.Bool().Draw(t, "ruled") {
		rules(
			rule{Action: "Ignore", OnExitCodes: &v1alpha1.ExitCodes{Operator: "In", Values: []int32{3}}},
			rule{Action: "RestartJob", OnExitCodes: &v1alpha1.ExitCodes{Operator: "In", Values: []int32{4}}},
			rule{Action: "RestartReplica", OnExitCodes: &v1alpha1.ExitCodes{Values: []int32{5}}}, // the default is In
			rule{Action: "Fail", OnExitCodes: &v1alpha1.ExitCodes{Operator: "In", Values: []int32{200}}},
		)(job)
		limit := rapid.Int32Range(0, 2).Draw(t, "maxRestarts")
		job.Spec.FailurePolicy.MaxRestarts = &limit
		job.Spec.FailurePolicy.RestartStrategy = rapid.SampledFrom([]v1alpha1.RestartStrategy{"Recreate", "BlockingRecreate"}).Draw(t, "strategy")
	}
	success(rapid.SampledFrom([]v1alpha1.SuccessRule{"Leader", "AllWorkers"}).Draw(t, "success"))(job)
	return job
}

func drawPolicy(t *rapid.T) func(*v1alpha1.ReplicaSpec) {
	return restart(rapid.SampledFrom([]v1alpha1.ReplicaRestartPolicy{"OnFailure", "Never", "ExitCode"}).Draw(t, "policy"))
}

// drawCode draws an exit code; most pods succeed.
func drawCode(t *rapid.T) int32 {
	return rapid.SampledFrom([]int32{0, 0, 0, 1, 3, 4, 5, 137, 137, 200}).Draw(t, "code")
}

// actionOf is what the failure of a pod with an exit code means (0: it has none), said another way than in failure.go.
func actionOf(job *v1alpha1.ReplicaJob, kind v1alpha1.ReplicaType, code int32) v1alpha1.FailureAction {
	if job.Spec.FailurePolicy != nil {
		switch code {
		case 3:
			return "Ignore"
		case 4:
			return "RestartJob"
		case 5:
			return "RestartReplica"
		case 200:
			return "Fail"
		}
	}
	policy := job.Spec.ReplicaSpecs[kind].RestartPolicy
	if policy == "OnFailure" || policy == "ExitCode" && (code == 0 || code >= 128) {
		return "RestartReplica"
	}
	return "Fail"
}

func (h *history) happened() {
	h.jobs, h.past = append(h.jobs, h.job), append(h.past, maps.Clone(h.pods))
}

func (h *history) latest() int { return len(h.past) - 1 }

// pass runs the plan on what the operator sees, and carries it out as far as a crash lets it. A process sees what it
// wrote; the next one may see less than the last.
func (h *history) pass() {
	h.seconds++
	h.sawJob = rapid.IntRange(h.sawJob, h.latest()).Draw(h.t, "view of the job")
	h.sawPods = rapid.IntRange(h.sawPods, h.latest()).Draw(h.t, "view of the pods")
	if rapid.IntRange(0, 5).Draw(h.t, "crash") > 0 {
		h.carryOut(1 << 30)
		return
	}
	h.carryOut(rapid.IntRange(0, 6).Draw(h.t, "writes"))
	h.sawJob = rapid.IntRange(max(0, h.latest()-20), h.latest()).Draw(h.t, "what the next process sees")
	h.sawPods = h.sawJob
}

// carryOut makes at most so many writes, in the builder's order: pods are made, others deleted, the status is written.
// What has changed since it was seen is not written to.
func (h *history) carryOut(writes int) {
	seen := h.jobs[h.sawJob]
	plan := h.plan(seen, h.past[h.sawPods])
	write := func(do func()) {
		if writes--; writes >= 0 {
			do()
			h.happened()
		}
	}
	for _, child := range plan.Children {
		if pod, ok := child.Object().(*corev1.Pod); ok {
			write(func() { h.create(pod); h.sawPods = len(h.past) })
		}
	}
	for _, obj := range plan.Delete {
		write(func() {
			if found := h.pods[obj.GetName()]; found != nil && found.ResourceVersion == obj.GetResourceVersion() {
				h.change(obj.GetName(), func(p *corev1.Pod) { now := h.now(); p.DeletionTimestamp = &now })
				h.count(seen, found)
				h.sawPods = len(h.past)
			}
		})
	}
	if plan.Status != nil && seen == h.job {
		write(func() { h.job = plan.Status; h.sawJob = len(h.jobs) })
	}
}

func isBeingSuspended(j *v1alpha1.ReplicaJob) bool {
	c := condition(j, "Suspended")
	return c.Status == metav1.ConditionTrue || c.Reason == "Suspending"
}

// count counts a pod that is deleted, if that is to make it again, and not to restart or suspend the job, or to have
// fewer replicas, or because the job has ended.
func (h *history) count(seen *v1alpha1.ReplicaJob, pod *corev1.Pod) {
	_, index, _ := indexOf(pod.Name)
	if h.failures[pod.UID] != v1alpha1.FailureRestartReplica || seen.Status.CompletionTime != nil || isBeingSuspended(seen) ||
		int32(label(pod, LabelRestartAttempt)) < seen.Status.Restarts || index >= int(*seen.Spec.ReplicaSpecs[typeOf(seen, pod)].Replicas) {
		return
	}
	h.again++
	if limit := seen.Spec.RunPolicy.BackoffLimit; limit != nil {
		require.LessOrEqual(h.t, h.again, *limit, "%s is one too many", pod.Name)
	}
}

// plan calls Plan, and checks that it is a function of its input, in whatever order that comes.
func (h *history) plan(job *v1alpha1.ReplicaJob, pods podsByName) builder.Plan[*v1alpha1.ReplicaJob] {
	var seen, copies []client.Object
	for _, name := range slices.Sorted(maps.Keys(pods)) {
		seen = append(seen, pods[name])
		copies = append(copies, pods[name].DeepCopy())
	}
	before := job.DeepCopy()
	plan := h.kind.Plan(job, buildertest.NewView(h.now().Time, seen...))
	require.Equal(h.t, before, job, "the job was changed")
	require.Equal(h.t, copies, seen, "a pod was changed")
	slices.Reverse(seen)
	again := h.kind.Plan(job, buildertest.NewView(h.now().Time, seen...))
	plan.Finish, again.Finish = nil, nil // functions can't be compared
	require.Equal(h.t, plan, again, "the plan depends on the order of the view")
	require.Empty(h.t, plan.Edits)
	return plan
}

// create is what a POST does.
func (h *history) create(pod *corev1.Pod) {
	if h.pods[pod.Name] != nil {
		return // AlreadyExists
	}
	pod = pod.DeepCopy()
	h.serial++
	pod.UID, pod.ResourceVersion = types.UID(fmt.Sprint("pod-", h.serial)), fmt.Sprint(h.serial)
	pod.Status.Phase = corev1.PodPending
	h.pods[pod.Name] = pod
}

func (h *history) change(name string, change func(*corev1.Pod)) {
	pod := h.pods[name].DeepCopy()
	change(pod)
	h.serial++
	pod.ResourceVersion = fmt.Sprint(h.serial)
	h.pods[name] = pod
}

func (h *history) now() metav1.Time {
	return metav1.NewTime(epoch.Add(time.Duration(h.seconds) * time.Second))
}

// ends lets a pod end, and keeps what that means.
func (h *history) ends(name string, code int32) {
	h.change(name, func(p *corev1.Pod) { end(p, code, h.now()) })
	pod := h.pods[name]
	switch {
	case code == 0:
		h.succeeds[name+" "+pod.Labels[LabelRestartAttempt]] = true
	case pod.DeletionTimestamp == nil:
		h.failures[pod.UID] = actionOf(h.job, typeOf(h.job, pod), code)
	}
}

func typeOf(job *v1alpha1.ReplicaJob, pod *corev1.Pod) v1alpha1.ReplicaType {
	for name := range job.Spec.ReplicaSpecs {
		if lower(name) == pod.Labels[LabelType] {
			return name
		}
	}
	return ""
}

// in draws a pod of a phase that isn't being deleted.
func (h *history) in(phases ...corev1.PodPhase) (string, bool) {
	var names []string
	for name, p := range h.pods {
		if slices.Contains(phases, p.Status.Phase) && p.DeletionTimestamp == nil {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "", false
	}
	slices.Sort(names)
	return rapid.SampledFrom(names).Draw(h.t, "pod"), true
}

// to makes an action of what happens to a pod of some phases.
func (h *history) to(do func(name string), phases ...corev1.PodPhase) func(*rapid.T) {
	return func(*rapid.T) {
		if name, ok := h.in(phases...); ok {
			do(name)
			h.happened()
		}
	}
}

func (h *history) edit(change func(*v1alpha1.ReplicaJob)) {
	h.job = h.job.DeepCopy()
	change(h.job)
	h.job.Generation++
	h.happened()
}

func (h *history) gone() {
	maps.DeleteFunc(h.pods, func(_ string, p *corev1.Pod) bool { return p.DeletionTimestamp != nil })
	h.happened()
}

const (
	podPending, podRunning, podSucceeded, podFailed = corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed
)

// Whatever happens, the job ends, its end is justified by what happened, and no limit is exceeded on the way.
func TestHistoriesEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory(t, drawJob(t))
		t.Repeat(map[string]func(*rapid.T){
			"pass":  func(*rapid.T) { h.pass() },
			"pass2": func(*rapid.T) { h.pass() }, // more often than anything else
			"start": h.to(func(name string) { h.change(name, func(p *corev1.Pod) { p.Status.Phase = podRunning }) }, podPending),
			"end":   h.to(func(name string) { h.ends(name, drawCode(h.t)) }, podRunning),
			"evict": h.to(func(name string) {
				h.change(name, func(p *corev1.Pod) { p.Status.Phase, p.Status.Reason = podFailed, "Evicted" })
				h.failures[h.pods[name].UID] = actionOf(h.job, typeOf(h.job, h.pods[name]), 0)
			}, podPending, podRunning),
			"vanish": h.to(func(name string) { delete(h.pods, name) }, podPending, podRunning, podSucceeded, podFailed),
			"delete": h.to(func(name string) {
				h.change(name, func(p *corev1.Pod) { now := h.now(); p.DeletionTimestamp = &now })
			}, podPending, podRunning),
			"lose the node": h.to(func(name string) {
				h.change(name, func(p *corev1.Pod) {
					now := h.now()
					p.DeletionTimestamp, p.Status.Phase = &now, podFailed
					p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: "True", Reason: "DeletionByPodGC"}}
				})
			}, podPending, podRunning),
			"gone": func(*rapid.T) { h.gone() },
			"scale": func(t *rapid.T) {
				n := rapid.Int32Range(1, 4).Draw(t, "replicas")
				h.edit(replicas("Worker", n, restart(h.job.Spec.ReplicaSpecs["Worker"].RestartPolicy)))
			},
			"suspend": func(t *rapid.T) {
				h.edit(func(j *v1alpha1.ReplicaJob) { j.Spec.RunPolicy.Suspend = rapid.IntRange(0, 2).Draw(t, "suspend") == 0 })
			},
			"time": func(t *rapid.T) { h.seconds += rapid.IntRange(1, 100).Draw(t, "seconds") },
		})
		h.calm()
		h.justify()
	})
}

// calm lets nothing go wrong any more, until the job has ended and nothing is left to do.
func (h *history) calm() {
	h.edit(func(j *v1alpha1.ReplicaJob) { j.Spec.RunPolicy.Suspend = false })
	for range 100 {
		h.gone()
		h.seconds += 100
		for name, p := range h.pods {
			switch p.Status.Phase {
			case podPending:
				h.change(name, func(p *corev1.Pod) { p.Status.Phase = podRunning })
			case podRunning:
				h.ends(name, 0)
			}
		}
		h.happened()
		h.sawJob, h.sawPods = h.latest(), h.latest()
		before := len(h.past)
		h.carryOut(1 << 30)
		if h.job.Status.CompletionTime != nil && len(h.past) == before {
			return
		}
	}
	require.NotNil(h.t, h.job.Status.CompletionTime, "the job doesn't end")
	h.t.Fatal("there is always something to do")
}

// settle lets deleted pods go and makes passes with a present view, until one changes nothing.
func (h *history) settle() {
	for range 50 {
		h.gone()
		h.sawJob, h.sawPods = h.latest(), h.latest()
		h.carryOut(1 << 30)
		if h.latest() == h.sawJob {
			return
		}
	}
	h.t.Fatal("there is always something to do")
}

// each calls a function for each pod of a phase.
func (h *history) each(phase corev1.PodPhase, do func(name string)) {
	for _, name := range slices.Sorted(maps.Keys(h.pods)) {
		if h.pods[name].Status.Phase == phase {
			do(name)
		}
	}
}

// justify checks that the end is one that what happened can have led to.
func (h *history) justify() {
	s := h.job.Status
	total := int32(0)
	for _, rs := range s.ReplicaStatuses {
		total += rs.Restarts
	}
	ready := condition(h.job, events.ConditionReady)
	caused := func(action v1alpha1.FailureAction) int32 {
		n := int32(0)
		for _, a := range h.failures {
			if a == action {
				n++
			}
		}
		return n
	}
	assert.LessOrEqual(h.t, total, caused("RestartReplica"), "restarts are counted once")
	assert.LessOrEqual(h.t, s.Restarts, caused("RestartJob"))
	assert.Len(h.t, slices.DeleteFunc(slices.Clone(s.Conditions), func(c metav1.Condition) bool {
		return c.Status != metav1.ConditionTrue || c.Type != "Succeeded" && c.Type != "Failed" && c.Type != "Running" && c.Type != "Restarting"
	}), 1, "it has one end")
	switch ready.Reason {
	case v1alpha1.ReasonSucceeded:
		leader := v1alpha1.ReplicaType("Worker")
		if _, ok := h.job.Spec.ReplicaSpecs["Chief"]; ok && h.job.Spec.SuccessPolicy.Rule == v1alpha1.SuccessLeader {
			leader = "Chief"
		}
		assert.True(h.t, h.succeeds[fmt.Sprintf("%s %d", PodName("demo", leader, 0), s.Restarts)], "it has succeeded, and %s 0 hasn't", leader)
	case v1alpha1.ReasonReplicaFailed, v1alpha1.ReasonFailureRule:
		assert.Positive(h.t, caused("Fail"))
	case v1alpha1.ReasonBackoffLimitExceeded:
		assert.Greater(h.t, caused("RestartReplica"), *h.job.Spec.RunPolicy.BackoffLimit)
	case v1alpha1.ReasonMaxRestartsExceeded:
		assert.Greater(h.t, caused("RestartJob"), *h.job.Spec.FailurePolicy.MaxRestarts)
	default:
		h.t.Fatalf("it ended with %s: %s", ready.Reason, ready.Message)
	}
}

// reference evaluates a job all of whose pods end at the same time, each with the code that its name and number among
// the pods of this name give it. It returns the reason of the end, and the restarts of replicas and of the job.
func reference(job *v1alpha1.ReplicaJob, code func(name string, n int) int32) (reason string, restarts, jobRestarts int32) {
	number, done := map[string]int{}, map[string]bool{}
	for {
		var decide []bool
		actions := map[v1alpha1.FailureAction][]string{}
		for kind, spec := range job.Spec.ReplicaSpecs {
			_, hasChief := job.Spec.ReplicaSpecs["Chief"]
			for i := range int(*spec.Replicas) {
				name := PodName(job.Name, kind, i)
				if c := code(name, number[name]); !done[name] && c != 0 {
					action := actionOf(job, kind, c)
					actions[action] = append(actions[action], name)
				} else {
					done[name] = true
				}
				isLeader := kind == "Chief" || !hasChief && kind == "Worker" && i == 0
				if job.Spec.SuccessPolicy.Rule == v1alpha1.SuccessAllWorkers && kind == "Worker" ||
					job.Spec.SuccessPolicy.Rule == v1alpha1.SuccessLeader && isLeader {
					decide = append(decide, done[name])
				}
			}
		}
		limit, again := job.Spec.RunPolicy.BackoffLimit, int32(len(actions["RestartReplica"]))
		switch {
		case !slices.Contains(decide, false):
			return "Succeeded", restarts, jobRestarts
		case len(actions["Fail"]) > 0:
			return "Failed", restarts, jobRestarts
		case len(actions["RestartJob"]) > 0:
			if jobRestarts == *job.Spec.FailurePolicy.MaxRestarts {
				return v1alpha1.ReasonMaxRestartsExceeded, restarts, jobRestarts
			}
			jobRestarts++
			for kind, spec := range job.Spec.ReplicaSpecs {
				for i := range int(*spec.Replicas) {
					number[PodName(job.Name, kind, i)]++
				}
			}
			done = map[string]bool{}
			continue
		case limit != nil && restarts+again > *limit:
			return v1alpha1.ReasonBackoffLimitExceeded, restarts, jobRestarts
		}
		restarts += again
		for _, name := range append(actions["RestartReplica"], actions["Ignore"]...) {
			number[name]++
		}
	}
}

func TestVerdictIsThatOfTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		job := drawJob(t)
		script := map[string][]int32{}
		code := func(name string, n int) int32 {
			if n >= 6 { // in the end all is well
				return 0
			}
			for len(script[name]) <= n {
				script[name] = append(script[name], drawCode(t))
			}
			return script[name][n]
		}
		wantReason, wantRestarts, wantJobRestarts := reference(job, code)

		h := newHistory(t, job)
		ended := map[string]int{}
		for h.job.Status.CompletionTime == nil {
			h.seconds += 100
			h.settle()
			h.each(podPending, func(name string) { h.change(name, ready) })
			h.settle()
			h.each(podRunning, func(name string) {
				h.ends(name, code(name, ended[name]))
				ended[name]++
			})
			require.LessOrEqual(t, h.seconds, 5000)
			h.settle()
		}
		reason := condition(h.job, events.ConditionReady).Reason
		if reason == v1alpha1.ReasonReplicaFailed || reason == v1alpha1.ReasonFailureRule {
			reason = "Failed"
		}
		var restarts int32
		for _, rs := range h.job.Status.ReplicaStatuses {
			restarts += rs.Restarts
		}
		assert.Equal(t, []any{wantReason, wantRestarts, wantJobRestarts}, []any{reason, restarts, h.job.Status.Restarts})
	})
}
