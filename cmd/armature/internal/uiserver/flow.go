package uiserver

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/flowstate"
	"github.com/armature-dev/armature/operators/jobflow"
)

// flowDocument is a JobFlow as its screen needs it.
type flowDocument struct {
	row
	Counts v1alpha1.FlowCounts `json:"counts"`

	flow       *v1alpha1.JobFlow // nil if it can't be read
	unreadable error
}

func flowDocumentOf(u *unstructured.Unstructured) flowDocument {
	d := flowDocument{row: rowOf(u)}
	flow := &v1alpha1.JobFlow{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, flow); err != nil {
		d.unreadable = err
		return d
	}
	flow.ManagedFields = nil
	d.flow, d.Counts = flow, flow.Status.Counts
	return d
}

// flowReader returns a function that reads one version of a flow after another. It reads the spec again only if it is another one: that
// of a flow of 10,000 nodes is most of the object, and most changes are of the status.
func flowReader() func(*unstructured.Unstructured) flowDocument {
	var last *v1alpha1.JobFlow
	return func(u *unstructured.Unstructured) flowDocument {
		if last == nil || last.UID != u.GetUID() || last.Generation != u.GetGeneration() {
			d := flowDocumentOf(u)
			last = d.flow
			return d
		}
		flow := &v1alpha1.JobFlow{ObjectMeta: last.ObjectMeta, Spec: last.Spec}
		status, _, _ := unstructured.NestedFieldNoCopy(u.Object, "status")
		fields, _ := status.(map[string]any) // nil is an empty status
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &flow.Status); err != nil {
			return flowDocument{row: rowOf(u), unreadable: err}
		}
		return flowDocument{row: rowOf(u), Counts: flow.Status.Counts, flow: flow}
	}
}

// jobTimes is what a flow's screen needs of a Job.
type jobTimes struct {
	uid, owner types.UID
	name       string
	node       string // the label of the flow's node
	retry      int
	suspended  bool
	failed     bool
	started    time.Time
	ended      time.Time // zero: it hasn't
}

func jobTimesOf(u *unstructured.Unstructured) jobTimes {
	labels := u.GetLabels()
	retry, _ := strconv.Atoi(labels[jobflow.LabelRetry]) // 0 without the label
	j := jobTimes{
		uid: u.GetUID(), name: u.GetName(), node: labels[jobflow.LabelFlow], retry: retry, suspended: flag(u, "spec", "suspend"),
		started: u.GetCreationTimestamp().Time,
	}
	for _, ref := range u.GetOwnerReferences() {
		if ref.Controller != nil && *ref.Controller {
			j.owner = ref.UID
		}
	}
	job := &batchv1.Job{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, job) != nil {
		return j
	}
	for _, c := range job.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
			j.ended, j.failed = c.LastTransitionTime.Time, c.Type == batchv1.JobFailed
		}
	}
	if job.Status.CompletionTime != nil {
		j.ended = job.Status.CompletionTime.Time
	}
	return j
}

// node is a node of a flow. Nodes are compared, so that what hasn't changed isn't sent: times are texts.
type node struct {
	I        int    `json:"i"`
	Name     string `json:"name,omitempty"`
	State    string `json:"state"`
	Tone     tone   `json:"tone"`
	Job      string `json:"job,omitempty"`
	Attempts int32  `json:"attempts,omitempty"`
	Started  string `json:"started,omitempty"`
	Ended    string `json:"ended,omitempty"`
	Message  string `json:"message,omitempty"`
}

func nodeTone(state v1alpha1.FlowState) tone {
	switch state {
	case v1alpha1.FlowSucceed:
		return toneGood
	case v1alpha1.FlowFailed:
		return toneBad
	case v1alpha1.FlowRunning:
		return toneRun
	case v1alpha1.FlowSkipped:
		return toneQuiet
	default:
		return toneWait
	}
}

// flowView is a flow as one stream has sent it.
type flowView struct {
	document flowDocument
	shape    *shape
	byName   map[string]int // the nodes by their names
	byLabel  map[string]int // the nodes by their Jobs' label
	states   []v1alpha1.FlowStatus
	jobs     map[int]map[types.UID]jobTimes // by node
	unplaced map[types.UID]jobTimes         // of a flow that hasn't come yet
	places   map[types.UID]int
	sent     []node
}

func newFlowView() *flowView {
	return &flowView{jobs: map[int]map[types.UID]jobTimes{}, unplaced: map[types.UID]jobTimes{}, places: map[types.UID]int{}}
}

// setFlow takes a new version of the flow. It returns whether the shape is another one, and which nodes have changed.
func (f *flowView) setFlow(d flowDocument) (reshaped bool, changed []node) {
	before := f.document.flow
	f.document = d
	if d.flow == nil {
		return false, nil
	}
	if f.shape != nil && before != nil && before.UID == d.flow.UID && before.Generation == d.flow.Generation {
		touched := flowstate.Update(f.states, f.byName, before, d.flow)
		if before.Status.Retry != d.flow.Status.Retry {
			return false, f.updateAll() // other Jobs count
		}
		for _, i := range touched {
			changed = f.update(i, changed)
		}
		return false, changed
	}
	f.states = flowstate.Of(d.flow)
	f.reshape()
	return true, f.updateAll()
}

// updateAll returns the nodes that aren't as they were sent.
func (f *flowView) updateAll() (changed []node) {
	for i := range f.states {
		changed = f.update(i, changed)
	}
	return changed
}

// reshape lays out a new spec, and gives the known Jobs their nodes in it.
func (f *flowView) reshape() {
	flow := f.document.flow
	f.shape = shapeOf(flow)
	f.byName = make(map[string]int, len(f.shape.Names))
	f.byLabel = make(map[string]int, len(f.shape.Names))
	for i, name := range f.shape.Names {
		f.byName[name] = i
		f.byLabel[jobflow.PodLabels(flow, name)[jobflow.LabelFlow]] = i
	}
	f.sent = make([]node, len(f.shape.Names))
	for i := range f.sent {
		f.sent[i] = node{I: i, State: string(v1alpha1.FlowPending), Tone: toneWait} // what the page takes for granted
	}
	all := f.unplaced
	for _, jobs := range f.jobs {
		maps.Copy(all, jobs)
	}
	f.jobs, f.unplaced, f.places = map[int]map[types.UID]jobTimes{}, map[types.UID]jobTimes{}, map[types.UID]int{}
	for _, j := range all {
		f.placeJob(j)
	}
}

// placeJob notes a Job, and returns its node; -1 if the spec has none for it.
func (f *flowView) placeJob(j jobTimes) int {
	i, ok := -1, false
	if f.document.flow != nil && j.owner == f.document.flow.UID {
		i, ok = f.byLabel[j.node]
	}
	if !ok {
		f.unplaced[j.uid] = j
		return -1
	}
	if f.jobs[i] == nil {
		f.jobs[i] = map[types.UID]jobTimes{}
	}
	f.jobs[i][j.uid], f.places[j.uid] = j, i
	return i
}

// setJobs takes what has changed of the Jobs, and returns the nodes that have changed by it.
func (f *flowView) setJobs(c changes[jobTimes]) (changed []node) {
	touched := map[int]bool{}
	for _, j := range c.set {
		if i := f.placeJob(j); i >= 0 {
			touched[i] = true
		}
	}
	for _, uid := range c.gone {
		delete(f.unplaced, uid)
		if i, ok := f.places[uid]; ok {
			delete(f.jobs[i], uid)
			delete(f.places, uid)
			touched[i] = true
		}
	}
	for i := range touched {
		changed = f.update(i, changed)
	}
	return changed
}

// update adds a node to the changed ones, if it isn't as it was sent.
func (f *flowView) update(i int, changed []node) []node {
	if i >= len(f.states) {
		return changed // a dependency that the spec doesn't have
	}
	n := nodeOf(i, &f.states[i], f.jobs[i], int(f.document.flow.Status.Retry))
	if n != f.sent[i] {
		f.sent[i] = n
		changed = append(changed, n)
	}
	return changed
}

// nodeOf combines the flow's status and the node's Jobs. The status of a large flow has only the outcome of most nodes. The Jobs of a
// node that waits in a retry are those of earlier attempts until it starts.
func nodeOf(i int, s *v1alpha1.FlowStatus, jobs map[types.UID]jobTimes, retry int) node {
	n := node{I: i, State: string(s.State), Job: s.Job, Attempts: s.Attempts, Message: s.Message}
	var started, ended time.Time
	if s.StartTime != nil {
		started = s.StartTime.Time
	}
	if s.CompletionTime != nil {
		ended = s.CompletionTime.Time
	}
	last := -1
	for _, j := range jobs {
		last = max(last, j.retry)
	}
	isEarlier := s.State == v1alpha1.FlowPending && last < retry
	if last >= 0 && started.IsZero() && !isEarlier {
		running, suspended := false, true
		for _, j := range jobs {
			if j.retry != last {
				continue
			}
			if started.IsZero() || j.started.Before(started) {
				started = j.started
			}
			if j.ended.After(ended) {
				ended = j.ended
			}
			n.Job = cmp.Or(s.Job, j.name)
			running = running || j.ended.IsZero()
			suspended = suspended && j.suspended
		}
		if running {
			ended = time.Time{}
		}
		if s.State == v1alpha1.FlowPending {
			n.State = string(v1alpha1.FlowRunning)
			if suspended {
				n.State = string(v1alpha1.FlowSuspended)
			}
		}
		n.Attempts = max(n.Attempts, int32(last+1)) //nolint:gosec // at most a million
	}
	n.Tone = nodeTone(v1alpha1.FlowState(n.State))
	n.Started, n.Ended = timeText(started), timeText(ended)
	return n
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// flowSource and jobsSource are what a flow's screen watches.
func flowSource(namespace, name string) source {
	return source{gvk: v1alpha1.GroupVersion.WithKind("JobFlow"), namespace: namespace, fields: "metadata.name=" + name}
}

func jobsSource(namespace, name string) source {
	flow := &v1alpha1.JobFlow{}
	flow.Name = name
	return source{
		gvk: batchv1.SchemeGroupVersion.WithKind("Job"), namespace: namespace,
		labels: jobflow.LabelJobFlow + "=" + jobflow.PodLabels(flow, "")[jobflow.LabelJobFlow],
	}
}

// streamFlow streams a flow: its counts, its shape, and its nodes.
func (s *server) streamFlow(w http.ResponseWriter, r *http.Request, v *Viewer) {
	namespace, name, err := nameOf(r)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	out := newStream(w, r)
	flows := read(v.hub, flowSource(namespace, name), "flow", flowReader(), out.wake)
	defer flows.close()
	jobs := read(v.hub, jobsSource(namespace, name), "times", jobTimesOf, out.wake)
	defer jobs.close()
	view, exists := newFlowView(), false
	out.run(v, func() bool {
		c, j := flows.take(), jobs.take()
		out.source(c.state)
		out.source(j.state)
		changed := view.setJobs(j)
		for _, d := range c.set {
			reshaped, nodes := view.setFlow(d)
			out.send("flow", d)
			if reshaped {
				out.send("graph", view.shape)
				changed = nil // they are among the nodes
			}
			changed = append(changed, nodes...)
		}
		sendAll(out, "nodes", changed)
		exists = len(c.set) > 0 || exists && len(c.gone) == 0
		switch {
		case c.complete && !exists:
			out.end(notFound("JobFlow", namespace, name))
		case exists && view.document.flow == nil:
			out.end(fmt.Errorf("JobFlow %s/%s can't be read: %w", namespace, name, view.document.unreadable))
		}
		return c.synced && j.synced
	})
}
