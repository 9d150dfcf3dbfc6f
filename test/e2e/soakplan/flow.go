package soakplan

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// output is what nodes put out whose output is needed: a list of two.
const output = `["x","y"]`

// badItem is the item of a forEach whose Job fails.
const badItem = "bad"

// flow draws a JobFlow and its story.
func (t *telling) flow() *Object {
	switch n := t.IntN(20); {
	case n < 7:
		o := t.create(t.drawFlow(1 + t.IntN(12)))
		if t.oneIn(3) {
			t.suspendAndResume(o, "")
		}
		return o
	case n < 10:
		return t.retriedFlow()
	case n < 13:
		return t.editedFlow()
	case n < 17:
		return t.stoppedFlow()
	case n < 19:
		o := t.create(t.endlessFlow())
		t.deleted(o)
		return o
	default:
		o := t.drawFlow(1 + t.IntN(4))
		o.Story, o.Expect.Vanishes = "flow that doesn't stay", true
		o.Made.(*v1alpha1.JobFlow).Spec.TTLSecondsAfterFinished = new(int32(t.IntN(5)))
		return t.create(o)
	}
}

// drawFlow draws nodes, of which each comes after some of those before it.
func (t *telling) drawFlow(size int) *Object {
	flow := &v1alpha1.JobFlow{}
	flow.Name = t.name
	for i := range size {
		flow.Spec.Flows = append(flow.Spec.Flows, t.drawNode(i, flow.Spec.Flows))
	}
	for i := range t.IntN(3) {
		n := v1alpha1.Flow{Name: fmt.Sprint("f", i), When: oneOf(t.draw, "", `state == "Failed"`, `jobs.n0.succeeded`)}
		t.fill(&n, oneOf(t.draw, easy, easy, easy, doomed))
		flow.Spec.Finally = append(flow.Spec.Finally, n)
	}
	t.Shuffle(size, func(i, j int) { flow.Spec.Flows[i], flow.Spec.Flows[j] = flow.Spec.Flows[j], flow.Spec.Flows[i] })
	t.drawPolicies(&flow.Spec)
	return flowObject("flow", flow)
}

func flowObject(story string, flow *v1alpha1.JobFlow) *Object {
	return &Object{Story: story, Made: flow, Final: flow, Expect: endOfFlow(&flow.Spec)}
}

func (t *telling) drawPolicies(spec *v1alpha1.JobFlowSpec) {
	spec.FailFast = t.oneIn(6)
	if t.oneIn(3) {
		spec.Parallelism = new(int32(1 + t.IntN(4)))
	}
	if t.oneIn(3) {
		spec.EndOfJob = v1alpha1.EndOfJobCondition
	}
	spec.JobRetention = oneOf(t.draw, "", "", v1alpha1.RetainFailed, v1alpha1.RetainNone)
}

// drawNode draws the i-th node, after those before.
func (t *telling) drawNode(i int, before []v1alpha1.Flow) v1alpha1.Flow {
	n := v1alpha1.Flow{Name: fmt.Sprint("n", i)}
	for _, j := range t.Perm(len(before))[:min(len(before), t.IntN(4))] {
		n.Dependencies = append(n.Dependencies, before[j].Name)
	}
	slices.Sort(n.Dependencies)
	t.fill(&n, oneOf(t.draw, easy, easy, easy, easy, easy, easy, easy, doomed, late, flaky))
	if len(n.Dependencies) > 0 {
		t.drawDependence(&n, before)
	} else if t.oneIn(6) {
		t.drawItems(&n)
	}
	return n
}

// drawDependence draws how a node takes the ends of those that it comes after.
func (t *telling) drawDependence(n *v1alpha1.Flow, before []v1alpha1.Flow) {
	first := n.Dependencies[0]
	at := slices.IndexFunc(before, func(b v1alpha1.Flow) bool { return b.Name == first })
	switch k := t.IntN(10); {
	case k == 0:
		n.When = "jobs." + first + ".failed || jobs." + first + ".skipped"
	case k == 1:
		n.When = "!jobs." + first + ".failed"
	case k == 2:
		n.When = "false"
	case k == 3:
		t.drawItems(n)
	case k <= 5 && before[at].ForEach == nil && isPlain(&before[at]):
		t.fill(&before[at], speaks)
		if k == 4 {
			n.When = "jobs." + first + `.output != ""`
		} else {
			t.fill(n, easy)
			n.ForEach = &v1alpha1.ForEach{FromOutput: first, MaxParallel: ptr.To[int32](1)}
		}
	}
}

func (t *telling) drawItems(n *v1alpha1.Flow) {
	t.fill(n, items)
	n.ForEach = &v1alpha1.ForEach{Items: []string{"a", "b", "c"}[:t.IntN(4)]}
	if t.oneIn(5) {
		n.ForEach.Items = append(n.ForEach.Items, badItem)
	}
}

// temper is what the Job of a node is like.
type temper string

const (
	easy   temper = "easy"   // succeeds
	speaks temper = "speaks" // succeeds, and puts out a list
	doomed temper = "doomed" // fails
	late   temper = "late"   // is over its deadline
	flaky  temper = "flaky"  // fails at first, and succeeds when its pod is tried again
	mended temper = "mended" // fails, but not after a retry of the flow
	items  temper = "items"  // succeeds but for the bad item
)

// annotationTemper keeps, in a template, what a node is like: for the model, which doesn't read shell.
const annotationTemper = "soak-temper"

func (t *telling) fill(n *v1alpha1.Flow, of temper) {
	n.JobTemplate = jobOf(of, t.IntN(4))
}

// jobOf is a Job that takes about some seconds.
func jobOf(of temper, seconds int) *batchv1.JobSpec {
	job := &batchv1.JobSpec{Template: pod(succeeds(seconds)), BackoffLimit: ptr.To[int32](tries)}
	command := &job.Template.Spec.Containers[0].Command[2]
	switch of {
	case speaks:
		*command += "; echo '" + output + "' > /dev/termination-log"
		job.Template.Labels = map[string]string{LabelOutput: "true"}
	case doomed:
		*command, job.PodFailurePolicy = fails(seconds), wantedOnly()
	case late:
		*command, job.ActiveDeadlineSeconds = forever, ptr.To[int64](2)
	case flaky:
		*command = `[ "${FAILURES:-0}" != 0 ] || exit 1`
		job.BackoffLimit, job.BackoffLimitPerIndex = nil, ptr.To[int32](tries)
		job.CompletionMode, job.Completions, job.Parallelism = ptr.To(batchv1.IndexedCompletion), ptr.To[int32](1), ptr.To[int32](1)
	case mended:
		*command, job.PodFailurePolicy = fmt.Sprintf("case $JOB in *-r[0-9]*) exit 0;; esac; exit %d", Wanted), wantedOnly()
	case items:
		*command, job.PodFailurePolicy = fmt.Sprintf(`[ "$ITEM" != %s ] || exit %d`, badItem, Wanted), wantedOnly()
	}
	job.Template.Annotations = map[string]string{annotationTemper: string(of)}
	return job
}

func temperOf(n *v1alpha1.Flow) temper {
	return temper(n.JobTemplate.Template.Annotations[annotationTemper])
}

func isPlain(n *v1alpha1.Flow) bool { return temperOf(n) == easy || temperOf(n) == speaks }

func patchOf(fields map[string]any) string {
	text, err := json.Marshal(map[string]any{"spec": fields})
	if err != nil {
		panic(err) // of plain data
	}
	return string(text)
}

// plainFlow is one in which nothing fails.
func (t *telling) plainFlow(size int) *Object {
	flow := &v1alpha1.JobFlow{}
	flow.Name = t.name
	for i := range size {
		n := t.drawNode(i, nil)
		n.ForEach = nil
		if i > 0 {
			n.Dependencies = []string{fmt.Sprint("n", t.IntN(i))}
		}
		n.JobTemplate = jobOf(easy, t.IntN(2))
		flow.Spec.Flows = append(flow.Spec.Flows, n)
	}
	flow.Spec.Flows[0].JobTemplate = jobOf(speaks, 1)
	last := &flow.Spec.Flows[size-1]
	last.Dependencies, last.ForEach = []string{"n0"}, &v1alpha1.ForEach{FromOutput: "n0"}
	return t.create(flowObject("flow of the wave", flow))
}

const (
	short = time.Second
	long  = 10 * time.Second
)
