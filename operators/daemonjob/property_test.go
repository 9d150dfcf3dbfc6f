package daemonjob

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/operators/internal/hostlist"
)

// cluster is a model in which nodes come, go and are cordoned, Jobs end, people delete Jobs, and the operator's process
// dies. The operator sees its own writes at once, and what others do later.
type cluster struct {
	t       *rapid.T
	job     *v1alpha1.DaemonJob
	nodes   map[string]*corev1.Node
	jobs    map[string]*batchv1.Job
	pods    map[string]*corev1.Pod // by their Jobs, as far as they have succeeded
	history []snapshot
	view    int // what the operator has seen at least
	seconds int
	limit   int

	uids    int
	fails   map[types.UID]bool // nodes on which Jobs fail
	runs    map[types.UID]int  // how often a node's Job was created
	ended   map[types.UID]bool // the status says that the node has ended
	deleted map[types.UID]int  // how often someone deleted a node's Job
}

type snapshot struct {
	nodes map[string]*corev1.Node
	jobs  map[string]*batchv1.Job
	pods  map[string]*corev1.Pod
}

func newCluster(t *rapid.T) *cluster {
	c := &cluster{
		t: t, job: makeJob(), nodes: map[string]*corev1.Node{}, jobs: map[string]*batchv1.Job{}, pods: map[string]*corev1.Pod{},
		fails: map[types.UID]bool{}, runs: map[types.UID]int{}, ended: map[types.UID]bool{}, deleted: map[types.UID]int{},
	}
	spec := &c.job.Spec
	spec.Template.Spec.NodeSelector = map[string]string{"pool": "a"}
	spec.FailurePolicy = rapid.SampledFrom([]v1alpha1.FailurePolicy{"", "Continue", "FailFast", "Pause"}).Draw(t, "failurePolicy")
	c.limit = rapid.IntRange(1, 6).Draw(t, "parallelism")
	if c.limit <= 4 {
		spec.Parallelism = new(intstr.FromInt(c.limit))
	} else {
		c.limit = 1000
	}
	for range rapid.IntRange(0, 6).Draw(t, "nodes") {
		c.join()
	}
	c.happened()
	return c
}

// happened adds to the history what is now.
func (c *cluster) happened() {
	c.history = append(c.history, snapshot{maps.Clone(c.nodes), maps.Clone(c.jobs), maps.Clone(c.pods)})
}

// join adds a node, or makes one anew under its old name.
func (c *cluster) join() {
	name := fmt.Sprint("n", rapid.IntRange(1, 8).Draw(c.t, "node"))
	c.uids++
	node := makeNode(name, labelled("pool", rapid.SampledFrom([]string{"a", "a", "b"}).Draw(c.t, "pool")))
	node.UID = types.UID(fmt.Sprint("uid-", c.uids))
	c.fails[node.UID] = rapid.IntRange(0, 4).Draw(c.t, "fails") == 0
	c.nodes[name] = node
	c.happened()
}

// change changes a node.
func (c *cluster) change(change func(*corev1.Node)) {
	names := slices.Sorted(maps.Keys(c.nodes))
	if len(names) == 0 {
		return
	}
	node := c.nodes[rapid.SampledFrom(names).Draw(c.t, "node")].DeepCopy()
	change(node)
	c.nodes[node.Name] = node
	c.happened()
}

// pass runs the plan on what the operator sees, and carries out as much of it as a crash lets it.
func (c *cluster) pass(mayCrash bool) {
	c.seconds++
	c.view = rapid.IntRange(c.view, len(c.history)-1).Draw(c.t, "view")
	plan := c.plan(c.history[c.view])
	writes := len(plan.Children) + len(plan.Delete) + 1
	crash := mayCrash && rapid.IntRange(0, 4).Draw(c.t, "crash") == 0
	if crash {
		writes = rapid.IntRange(0, writes).Draw(c.t, "writes")
	}
	for _, child := range plan.Children {
		if writes--; writes >= 0 {
			c.create(child.Object().(*batchv1.Job))
		}
	}
	for _, o := range plan.Delete {
		if writes--; writes >= 0 && c.jobs[o.GetName()] == o { // else it is another by now: a conflict
			c.remove(o.GetName())
		}
	}
	putOff := plan.StatusCanWait > 0 && rapid.Bool().Draw(c.t, "status is put off")
	if writes > 0 && plan.Status != nil && !putOff {
		c.job = plan.Status
		c.noteEnds()
	}
	c.view = c.lastOwnWrite(crash)
}

// lastOwnWrite is what the operator sees at least after a pass: its writes, and after a crash all there is.
func (c *cluster) lastOwnWrite(crash bool) int {
	if crash {
		return len(c.history) - 1
	}
	last := c.history[len(c.history)-1]
	for i := len(c.history) - 1; i > c.view; i-- {
		if !maps.Equal(c.history[i-1].jobs, last.jobs) {
			return i
		}
	}
	return c.view
}

func (c *cluster) plan(seen snapshot) builder.Plan[*v1alpha1.DaemonJob] {
	var jobs, nodes []client.Object
	for _, j := range seen.jobs {
		jobs = append(jobs, j)
	}
	for _, p := range c.history[rapid.IntRange(c.view, len(c.history)-1).Draw(c.t, "view of pods")].pods {
		jobs = append(jobs, p)
	}
	for _, n := range seen.nodes {
		nodes = append(nodes, n)
	}
	view := buildertest.WithWatched(buildertest.NewView(at(c.seconds).Time, jobs...), nodes...)
	before := c.job.DeepCopy()
	plan := Plan(c.job, view)
	require.Equal(c.t, before, c.job, "the DaemonJob was changed")
	slices.Reverse(jobs)
	slices.Reverse(nodes)
	require.Equal(c.t, plan, Plan(c.job, buildertest.WithWatched(buildertest.NewView(at(c.seconds).Time, jobs...), nodes...)), "the order of the view matters")
	return plan
}

func (c *cluster) create(job *batchv1.Job) {
	uid := types.UID(job.Annotations[AnnotationNodeUID])
	require.False(c.t, c.ended[uid], "%s runs again after its end", job.Name)
	if c.jobs[job.Name] != nil {
		return // AlreadyExists
	}
	c.runs[uid]++
	require.LessOrEqual(c.t, c.runs[uid], 1+c.deleted[uid], "%s is made once", job.Name)
	c.uids++
	c.jobs[job.Name] = job.DeepCopy()
	c.jobs[job.Name].UID = types.UID(fmt.Sprint("job-", c.uids))
	c.happened()
	require.LessOrEqual(c.t, c.busy(), c.limit, "more nodes than parallelism allows")
}

// remove deletes a Job, and its pod with it.
func (c *cluster) remove(name string) {
	delete(c.jobs, name)
	delete(c.pods, name)
	c.happened()
}

// busy counts the nodes on which a pod of a Job runs, or will.
func (c *cluster) busy() int {
	n := 0
	for _, name := range c.running() {
		if c.pods[name] != nil {
			continue
		}
		notes := c.jobs[name].Annotations
		if node := c.nodes[notes[AnnotationNode]]; node != nil && string(node.UID) == notes[AnnotationNodeUID] {
			n++
		}
	}
	return n
}

func (c *cluster) noteEnds() {
	succeeded, failed := hostlist.Parse(c.job.Status.SucceededNodes), hostlist.Parse(c.job.Status.FailedNodes)
	for _, job := range c.jobs {
		if node := job.Annotations[AnnotationNode]; (len(job.Status.Conditions) > 0 || c.pods[job.Name] != nil) && (succeeded.Has(node) || failed.Has(node)) {
			c.ended[types.UID(job.Annotations[AnnotationNodeUID])] = true
		}
	}
}

func (c *cluster) running() []string {
	var names []string
	for name, job := range c.jobs {
		if len(job.Status.Conditions) == 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// end lets a running Job end as its node says; one that succeeds does so in two steps, of which the first is its pod's.
func (c *cluster) end(name string) {
	end := batchv1.JobCondition{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: at(c.seconds)}
	switch {
	case c.fails[types.UID(c.jobs[name].Annotations[AnnotationNodeUID])]:
		end.Type = batchv1.JobFailed
	case c.pods[name] == nil:
		c.pods[name] = succeededPod(c.jobs[name])
		c.happened()
		return
	}
	job := c.jobs[name].DeepCopy()
	job.Status.Conditions = []batchv1.JobCondition{end}
	if end.Type == batchv1.JobComplete {
		job.Status.CompletionTime = &end.LastTransitionTime
	}
	c.jobs[name] = job
	c.happened()
}

// reference says which state a cluster in which nothing goes wrong any more ends in.
func (c *cluster) reference() v1alpha1.State {
	for _, node := range c.nodes {
		own := c.jobs[JobName("demo", node.Name)]
		hasJob := own != nil && own.Annotations[AnnotationNodeUID] == string(node.UID)
		if c.fails[node.UID] && (hasJob || c.ended[node.UID] || node.Labels["pool"] == "a") {
			return v1alpha1.StateFailed
		}
	}
	return v1alpha1.StateSucceed
}

func TestJobsEndAsTheReferenceSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCluster(t)
		t.Repeat(map[string]func(*rapid.T){
			"pass": func(*rapid.T) { c.pass(true) },
			"join": func(*rapid.T) { c.join() },
			"leave": func(t *rapid.T) {
				if names := slices.Sorted(maps.Keys(c.nodes)); len(names) > 0 {
					delete(c.nodes, rapid.SampledFrom(names).Draw(t, "node"))
					c.happened()
				}
			},
			"cordon":   func(*rapid.T) { c.change(func(n *corev1.Node) { n.Spec.Unschedulable = !n.Spec.Unschedulable }) },
			"relabel":  func(t *rapid.T) { c.change(labelled("pool", rapid.SampledFrom([]string{"a", "b"}).Draw(t, "pool"))) },
			"taint":    func(*rapid.T) { c.change(tainted("k", "NoSchedule")) },
			"end":      func(t *rapid.T) { c.endOne() },
			"end more": func(t *rapid.T) { c.endOne() },
			"delete": func(t *rapid.T) {
				if names := slices.Sorted(maps.Keys(c.jobs)); len(names) > 0 && rapid.IntRange(0, 4).Draw(t, "rarely") == 0 {
					name := rapid.SampledFrom(names).Draw(t, "job")
					c.deleted[types.UID(c.jobs[name].Annotations[AnnotationNodeUID])]++
					c.remove(name)
				}
			},
		})
		if c.job.Status.CompletionTime == nil {
			c.settle()
		}
		c.checkEnd()
	})
}

func (c *cluster) endOne() {
	if names := c.running(); len(names) > 0 {
		c.end(rapid.SampledFrom(names).Draw(c.t, "job"))
	}
}

// settle lets nothing go wrong any more, until the job has ended.
func (c *cluster) settle() {
	for name, node := range c.nodes {
		node = node.DeepCopy()
		node.Spec.Unschedulable, node.Spec.Taints = false, nil
		c.nodes[name] = node
	}
	if c.reference() == v1alpha1.StateSucceed && !slices.ContainsFunc(slices.Collect(maps.Values(c.nodes)), func(n *corev1.Node) bool {
		return n.Labels["pool"] == "a"
	}) {
		c.nodes["last"] = makeNode("last", labelled("pool", "a")) // a job needs a node to end
	}
	c.happened()
	want := c.reference()
	for range 60 {
		c.view = len(c.history) - 1
		c.pass(false)
		if c.job.Status.CompletionTime != nil {
			if len(c.deleted) == 0 {
				require.Equal(c.t, want, c.job.Status.State)
				c.checkThatAllRan()
			}
			return
		}
		if c.job.Status.Paused {
			c.job = c.job.DeepCopy()
			c.job.Spec.FailurePolicy = v1alpha1.FailureContinue
		}
		for _, name := range c.running() {
			c.end(name)
		}
	}
	require.Fail(c.t, "the job doesn't end", "%+v", c.job.Status)
}

// checkThatAllRan holds that no node is taken for its predecessor.
func (c *cluster) checkThatAllRan() {
	succeeded := hostlist.Parse(c.job.Status.SucceededNodes)
	for name, node := range c.nodes {
		if succeeded.Has(name) {
			require.Positive(c.t, c.runs[node.UID], "%s has succeeded without a Job", name)
		}
	}
}

// checkEnd holds a job that has ended against the reference.
func (c *cluster) checkEnd() {
	status := c.job.Status
	assert.Equal(c.t, status.Desired, status.Succeeded+status.Failed+status.Skipped)
	if status.State == v1alpha1.StateSucceed {
		assert.Equal(c.t, status.Desired, status.Succeeded)
	} else {
		assert.Positive(c.t, status.Failed)
	}
	for _, name := range c.running() {
		if c.pods[name] != nil {
			c.end(name)
		}
	}
	for range 3 { // what was missed is stopped
		c.view = len(c.history) - 1
		c.pass(false)
	}
	assert.Empty(c.t, c.running(), "nothing runs after the end")
	assert.Zero(c.t, c.plan(c.history[len(c.history)-1]), "nothing is left to do")
}
