package uiserver

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/jobflow"
)

// jobOfNode returns the Job of a node as the operator makes it.
func jobOfNode(flow *v1alpha1.JobFlow, node string) *batchv1.Job {
	isController := true
	job := &batchv1.Job{}
	job.Namespace, job.Name, job.Labels = flow.Namespace, flow.Name+"-"+node, jobflow.PodLabels(flow, node)
	job.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: "JobFlow", Name: flow.Name, UID: flow.UID, Controller: &isController,
	}}
	job.Spec.Template.Spec = corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "busybox"}},
	}
	return job
}

func TestFlowIsLive(t *testing.T) {
	flow := flowNamed("a", "nightly", v1alpha1.Flow{Name: "build"}, v1alpha1.Flow{Name: "test", Dependencies: []string{"build"}})
	api := newAPI(t)
	c := api.Client()
	require.NoError(t, c.Create(t.Context(), flow))
	flow.Status.Counts = v1alpha1.FlowCounts{Total: 2, Succeeded: 1, Pending: 1}
	flow.Status.ObservedGeneration = flow.Generation
	flow.Status.Finished = "0"
	require.NoError(t, c.Status().Update(t.Context(), flow))
	s := newSite(t, api)
	l := s.listen("/api/stream/flow?namespace=a&name=nightly")
	assert.Equal(t, int32(2), decoded[flowDocument](t, l.until("flow", nil)).Counts.Total, "counts come first")
	assert.Equal(t, []string{"build", "test"}, decoded[shape](t, l.until("graph", nil)).Names)
	assert.Equal(t, []node{{I: 0, State: "Succeed", Tone: toneGood}}, decoded[[]node](t, l.until("nodes", nil)))
	l.until("synced", nil)

	require.NoError(t, c.Create(t.Context(), jobOfNode(flow, "test")))
	changed := decoded[[]node](t, l.until("nodes", nil))
	require.Len(t, changed, 1)
	assert.Equal(t, "Running", changed[0].State, "the status of a large flow doesn't name all that runs")
	assert.Equal(t, "nightly-test", changed[0].Job)
	assert.NotEmpty(t, changed[0].Started)

	require.NoError(t, c.Delete(t.Context(), flow))
	assert.Contains(t, l.until("problem", nil), "NotFound")
}

func TestAMissingFlowIsSaid(t *testing.T) {
	s := newSite(t, newAPI(t))
	assert.Contains(t, s.listen("/api/stream/flow?namespace=a&name=none").until("problem", nil), "there is no JobFlow none")
	for _, query := range []string{"namespace=a", "namespace=a&name=x,metadata.namespace=b", "namespace=a%2Fb&name=x"} {
		assert.Equal(t, 400, s.get("/api/stream/flow?"+query).StatusCode, query)
	}
}

// A change of one node of many is a message with that node.
func TestOnlyChangedNodesAreSent(t *testing.T) {
	view := newFlowView()
	flow := layered(10_000, 100)
	flow.UID = "u"
	reshaped, changed := view.setFlow(flowDocument{flow: flow})
	assert.True(t, reshaped)
	assert.Empty(t, changed)
	next := flow.DeepCopy()
	next.Status.Finished = "17"
	reshaped, changed = view.setFlow(flowDocument{flow: next})
	assert.False(t, reshaped)
	assert.Equal(t, []node{{I: 17, State: "Succeed", Tone: toneGood}}, changed)
	j := jobTimes{uid: "j", owner: "u", name: "large-node-00042", node: "node-00042", retry: 1, suspended: true}
	assert.Equal(t, []node{{I: 42, State: "Suspended", Tone: toneWait, Job: j.name, Attempts: 2}}, view.setJobs(changes[jobTimes]{set: []jobTimes{j}}))
	j.owner = "another flow of this name"
	assert.Empty(t, newFlowView().setJobs(changes[jobTimes]{set: []jobTimes{j}}))
}

// In a retry, a node that waits to run again still has the failed Job of the earlier attempt.
func TestANodeThatWaitsInARetryIsPending(t *testing.T) {
	view := newFlowView()
	flow := flowNamed("a", "nightly", v1alpha1.Flow{Name: "build"}, v1alpha1.Flow{Name: "test", Dependencies: []string{"build"}})
	flow.UID, flow.Generation, flow.Spec.Retry, flow.Status.ObservedGeneration = "u", 2, 1, 2
	j := jobTimes{uid: "j", owner: "u", name: "nightly-test", node: "test", failed: true, started: time.Unix(100, 0), ended: time.Unix(200, 0)}
	view.setFlow(flowDocument{flow: flow})
	require.Len(t, view.setJobs(changes[jobTimes]{set: []jobTimes{j}}), 1, "it is of the current attempt")
	retried := flow.DeepCopy()
	retried.Status.Retry = 1
	_, changed := view.setFlow(flowDocument{flow: retried})
	assert.Equal(t, []node{{I: 1, State: "Pending", Tone: toneWait}}, changed)
	again := jobTimes{uid: "k", owner: "u", name: "nightly-test-r1", node: "test", retry: 1, started: time.Unix(300, 0)}
	changed = view.setJobs(changes[jobTimes]{set: []jobTimes{again}})
	assert.Equal(t, []node{{
		I: 1, State: "Running", Tone: toneRun, Job: again.name, Attempts: 2, Started: timeText(again.started),
	}}, changed, "the status of a large flow doesn't name all that runs")
}

// A later version of a flow is read as if it were the first, also where only the status is read.
func TestVersionsOfAFlowAreReadAlike(t *testing.T) {
	flow := layered(10, 2)
	flow.UID, flow.Generation = "u", 1
	read := flowReader()
	next := func(change func()) {
		t.Helper()
		change()
		got, want := read(asSent(t, flow)), flowDocumentOf(asSent(t, flow))
		assert.Equal(t, want.row, got.row)
		assert.Equal(t, want.Counts, got.Counts)
		assert.Equal(t, want.flow.Spec, got.flow.Spec)
		assert.Equal(t, want.flow.Status, got.flow.Status)
		assert.Equal(t, want.flow.UID, got.flow.UID)
		assert.Equal(t, want.flow.Generation, got.flow.Generation)
	}
	next(func() {})
	next(func() {
		flow.Status.Finished, flow.Status.Counts.Succeeded, flow.Status.ObservedGeneration = "0-3", 4, 1
	})
	next(func() { flow.Spec.Flows[3].AllowFailure, flow.Generation = true, 2 })
	next(func() { flow.Status = v1alpha1.JobFlowStatus{} })
	next(func() { flow.UID, flow.Spec.Flows = "another of this name", flow.Spec.Flows[:2] })
}

// BenchmarkChange is of one node's change in a flow of 10,000 nodes, by its Job.
func BenchmarkChange(b *testing.B) {
	view := newFlowView()
	flow := layered(10_000, 100)
	flow.UID = "u"
	view.setFlow(flowDocument{flow: flow})
	j := jobTimes{uid: "j", owner: "u", node: "node-00042"}
	for b.Loop() {
		j.suspended = !j.suspended
		require.Len(b, view.setJobs(changes[jobTimes]{set: []jobTimes{j}}), 1)
	}
}

// asSent returns a flow as a watch gives it.
func asSent(tb testing.TB, flow *v1alpha1.JobFlow) *unstructured.Unstructured {
	tb.Helper()
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(flow)
	require.NoError(tb, err)
	return &unstructured.Unstructured{Object: object}
}

// BenchmarkStatusChange is of one node's end in a flow of 10,000 nodes, by the flow's status.
func BenchmarkStatusChange(b *testing.B) {
	var versions [2]*unstructured.Unstructured
	for i, finished := range []v1alpha1.Indexes{"0-4998", "0-4998,5003"} {
		flow := layered(10_000, 100)
		flow.UID, flow.Generation, flow.Status.ObservedGeneration, flow.Status.Finished = "u", 1, 1, finished
		versions[i] = asSent(b, flow)
	}
	view, read, i := newFlowView(), flowReader(), 0
	view.setFlow(read(versions[0]))
	b.ReportAllocs()
	for b.Loop() {
		i = 1 - i
		_, changed := view.setFlow(read(versions[i]))
		require.Len(b, changed, 1)
	}
}
