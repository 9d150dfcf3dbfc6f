package replicajob

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/events"
)

var epoch = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

type option func(*v1alpha1.ReplicaJob)

// makeJob returns the ReplicaJob demo.
func makeJob(options ...option) *v1alpha1.ReplicaJob {
	j := &v1alpha1.ReplicaJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo", UID: "demo-uid", Generation: 1},
		Spec:       v1alpha1.ReplicaJobSpec{ReplicaSpecs: map[v1alpha1.ReplicaType]v1alpha1.ReplicaSpec{}},
	}
	for _, o := range options {
		o(j)
	}
	return j
}

// replicas adds a type.
func replicas(t v1alpha1.ReplicaType, n int32, change ...func(*v1alpha1.ReplicaSpec)) option {
	return func(j *v1alpha1.ReplicaJob) {
		spec := v1alpha1.ReplicaSpec{Replicas: new(n), Template: template()}
		for _, f := range change {
			f(&spec)
		}
		j.Spec.ReplicaSpecs[t] = spec
	}
}

func template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "main", Image: "busybox:1.28", Command: []string{"true"}}},
	}}
}

func restart(policy v1alpha1.ReplicaRestartPolicy) func(*v1alpha1.ReplicaSpec) {
	return func(s *v1alpha1.ReplicaSpec) { s.RestartPolicy = policy }
}

func after(t v1alpha1.ReplicaType, status v1alpha1.DependencyStatus) func(*v1alpha1.ReplicaSpec) {
	return func(s *v1alpha1.ReplicaSpec) {
		s.DependsOn = append(s.DependsOn, v1alpha1.ReplicaDependency{Type: t, Status: status})
	}
}

func run(change func(*v1alpha1.RunPolicy)) option {
	return func(j *v1alpha1.ReplicaJob) { change(&j.Spec.RunPolicy) }
}

func backoffLimit(n int32) option {
	return run(func(p *v1alpha1.RunPolicy) { p.BackoffLimit = &n })
}

func rules(rules ...v1alpha1.FailureRule) option {
	return func(j *v1alpha1.ReplicaJob) { j.Spec.FailurePolicy = &v1alpha1.ReplicaFailurePolicy{Rules: rules} }
}

func success(rule v1alpha1.SuccessRule, types ...v1alpha1.ReplicaType) option {
	return func(j *v1alpha1.ReplicaJob) {
		j.Spec.SuccessPolicy = &v1alpha1.ReplicaSuccessPolicy{Rule: rule, ReplicaTypes: types}
	}
}

// cluster is a cluster with one job, in which passes are made one by one.
type cluster struct {
	t       tester
	kind    Kind[*v1alpha1.ReplicaJob]
	job     *v1alpha1.ReplicaJob
	pods    map[string]*corev1.Pod
	others  []client.Object // in the view besides pods
	seconds int

	plan     builder.Plan[*v1alpha1.ReplicaJob] // of the last pass
	told     []events.Event
	writes   int // of the status
	creates  int
	deletes  int
	released []string
	serial   int
}

// tester is what is common to a test and a property's run.
type tester interface {
	require.TestingT
	Helper()
	Fatal(args ...any)
}

func newCluster(t tester, job *v1alpha1.ReplicaJob) *cluster {
	c := &cluster{t: t, kind: ReplicaJobs, job: job, pods: map[string]*corev1.Pod{}}
	c.kind.Schedulers = []v1alpha1.GangProvider{v1alpha1.GangPodDisruptionBudget}
	return c
}

func (c *cluster) now() metav1.Time {
	return metav1.NewTime(epoch.Add(time.Duration(c.seconds) * time.Second))
}

// pass makes one pass and carries out what it plans, as builder does.
func (c *cluster) pass() {
	c.t.Helper()
	var seen []client.Object
	for _, name := range slices.Sorted(maps.Keys(c.pods)) {
		seen = append(seen, c.pods[name])
	}
	before := c.job.DeepCopy()
	c.plan = c.kind.Plan(c.job, buildertest.NewView(c.now().Time, append(seen, c.others...)...))
	require.Equal(c.t, before, c.job, "the job was changed")
	for _, child := range c.plan.Children {
		if pod, ok := child.Object().(*corev1.Pod); ok {
			require.Nil(c.t, c.pods[pod.Name], "wanted, and there already") // NotContains would go over all pods
			c.creates++
			c.add(pod.DeepCopy())
		}
	}
	for _, e := range c.plan.Edits {
		delete(c.pods, e.Before.GetName())
		c.released = append(c.released, e.Before.GetName())
	}
	for _, obj := range c.plan.Delete {
		require.NotNil(c.t, c.pods[obj.GetName()], "deleted, and not there")
		c.deletes++
		delete(c.pods, obj.GetName())
	}
	if c.plan.Status != nil {
		c.writes++
		c.job = c.plan.Status
	}
	c.told = append(c.told, c.plan.Events...)
}

// settle makes passes until one changes nothing.
func (c *cluster) settle() {
	c.t.Helper()
	for range 50 {
		writes, creates, deletes := c.writes, c.creates, c.deletes
		c.pass()
		if writes == c.writes && creates == c.creates && deletes == c.deletes && len(c.plan.Edits) == 0 {
			return
		}
	}
	c.t.Fatal("the passes don't come to an end")
}

// at lets the time be so many seconds after the epoch, and settles.
func (c *cluster) at(seconds int) {
	c.t.Helper()
	c.seconds = seconds
	c.settle()
}

func (c *cluster) add(pod *corev1.Pod) {
	c.serial++
	pod.UID = types.UID(fmt.Sprint("pod-", c.serial))
	pod.ResourceVersion = fmt.Sprint(c.serial)
	pod.CreationTimestamp = c.now()
	pod.Status.Phase = corev1.PodPending
	c.pods[pod.Name] = pod
}

func (c *cluster) change(name string, change func(*corev1.Pod)) {
	c.t.Helper()
	require.NotNil(c.t, c.pods[name], "%s is not there", name)
	pod := c.pods[name].DeepCopy()
	change(pod)
	c.pods[name] = pod
}

// run lets pods run, and be ready; all that are pending without names.
func (c *cluster) run(names ...string) {
	c.t.Helper()
	if names == nil {
		for name, p := range c.pods {
			if p.Status.Phase == corev1.PodPending && p.DeletionTimestamp == nil {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		c.change(name, func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodRunning
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		})
	}
	c.settle()
}

// ends lets pods end with an exit code.
func (c *cluster) ends(code int32, names ...string) {
	c.t.Helper()
	for _, name := range names {
		c.change(name, func(p *corev1.Pod) { end(p, code, c.now()) })
	}
}

func end(p *corev1.Pod, code int32, at metav1.Time) {
	p.Status.Phase = corev1.PodSucceeded
	reason := "Completed"
	if code != 0 {
		p.Status.Phase, reason = corev1.PodFailed, "Error"
	}
	p.Status.Conditions = nil
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, FinishedAt: at},
	}}}
}

func (c *cluster) edit(change func(*v1alpha1.ReplicaJob)) {
	c.job = c.job.DeepCopy()
	change(c.job)
	c.job.Generation++
}

func (c *cluster) names() []string { return slices.Sorted(maps.Keys(c.pods)) }

func (c *cluster) status(t v1alpha1.ReplicaType) v1alpha1.ReplicaStatus {
	rs := c.job.Status.ReplicaStatuses[t]
	rs.Selector = ""
	return rs
}

func (c *cluster) condition(kind string) metav1.Condition { return condition(c.job, kind) }

func condition(job *v1alpha1.ReplicaJob, kind string) metav1.Condition {
	if found := meta.FindStatusCondition(job.Status.Conditions, kind); found != nil {
		return *found
	}
	return metav1.Condition{}
}

// is reports whether a condition is true, and why.
func (c *cluster) is(kind string) string {
	if found := c.condition(kind); found.Status == metav1.ConditionTrue {
		return found.Reason
	}
	return ""
}

func (c *cluster) reasons() []string {
	var all []string
	for _, e := range c.told {
		all = append(all, e.Reason)
	}
	return all
}

// podNames names pods of a type.
func podNames(t v1alpha1.ReplicaType, indexes ...int) []string {
	var all []string
	for _, i := range indexes {
		all = append(all, PodName("demo", t, i))
	}
	return all
}

func label(p *corev1.Pod, key string) int {
	n, err := strconv.Atoi(p.Labels[key])
	if err != nil {
		return -1
	}
	return n
}
