package uiserver

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/daemonjob"
	"github.com/armature-dev/armature/operators/jobflow"
)

func podOfNode(flow *v1alpha1.JobFlow, node string, owner *metav1.ObjectMeta) *corev1.Pod {
	isController := true
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name, pod.Labels = flow.Namespace, flow.Name+"-"+node+"-x", jobflow.PodLabels(flow, node)
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: owner.Name, UID: owner.UID, Controller: &isController}}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "busybox"}}
	return pod
}

func TestDrawerOfANode(t *testing.T) {
	flow := withPods(flowNamed("a", "nightly", v1alpha1.Flow{Name: "build"},
		v1alpha1.Flow{Name: "test", Dependencies: []string{"build"}, Inputs: []v1alpha1.Input{{Env: "TAG", From: "build"}}}))
	flow.Spec.GlobalParams.Env = []corev1.EnvVar{{Name: "STAGE", Value: "dev"}}
	api := newAPI(t)
	c := api.Client()
	require.NoError(t, c.Create(t.Context(), flow))
	flow.Status.Outputs = []v1alpha1.FlowOutput{{Name: "build", Value: "v1"}}
	require.NoError(t, c.Status().Update(t.Context(), flow))
	job := jobOfNode(flow, "test")
	require.NoError(t, c.Create(t.Context(), job))
	pod := podOfNode(flow, "test", &job.ObjectMeta)
	require.NoError(t, c.Create(t.Context(), pod))
	other := jobOfNode(flow, "build")
	require.NoError(t, c.Create(t.Context(), other))
	require.NoError(t, c.Create(t.Context(), podOfNode(flow, "build", &other.ObjectMeta)))
	pod.Status.Phase = corev1.PodPending
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"}},
	}}
	require.NoError(t, c.Status().Update(t.Context(), pod))
	event := &corev1.Event{Type: "Warning", Reason: "Failed", Message: "pull busybox", InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: pod.Name, UID: pod.UID}}
	event.Namespace, event.Name = "a", "e1"
	require.NoError(t, c.Create(t.Context(), event))

	s := newSite(t, api)
	l := s.listen("/api/stream/detail?kind=JobFlow&namespace=a&name=nightly&node=test")
	io := decoded[inputsOutputs](t, l.until("io", nil))
	assert.Equal(t, []passed{{"STAGE", "dev", "globalParams"}, {"TAG", "v1", "the output of build"}}, io.Inputs)
	object := decoded[objectView](t, l.until("object", nil))
	assert.Contains(t, object.YAML, "name: test")
	assert.NotContains(t, object.YAML, "managedFields")
	pods := decoded[[]podView](t, l.until("pods", nil))
	require.Len(t, pods, 1, "those of the node alone")
	assert.Equal(t, "Pending, ImagePullBackOff", pods[0].State)
	assert.Equal(t, []containerView{{Name: "main", State: "waiting", Reason: "ImagePullBackOff"}}, pods[0].Containers)
	assert.Equal(t, job.Name, pods[0].Job)
	assert.Contains(t, l.until("events", nil), "pull busybox")
	assert.Contains(t, l.until("explain", nil), `"phase":"Blocked"`)

	require.NoError(t, c.Delete(t.Context(), pod))
	assert.JSONEq(t, `["`+string(pod.UID)+`"]`, l.until("podsGone", nil))
	assert.Contains(t, s.listen("/api/stream/detail?kind=JobFlow&namespace=a&name=nightly&node=none").until("problem", nil), "no node none")
	assert.Contains(t, s.listen("/api/stream/detail?kind=Pod&namespace=a&name=none").until("problem", nil), "no Pod none")
}

func TestMapOfADaemonJob(t *testing.T) {
	node := func(name string) *corev1.Node {
		n := &corev1.Node{}
		n.Name = name
		return n
	}
	job := &v1alpha1.DaemonJob{}
	job.Namespace, job.Name = "a", "fix"
	job.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "busybox"}}
	api := newAPI(t, node("n1"), node("n2"), node("n10"))
	c := api.Client()
	require.NoError(t, c.Create(t.Context(), job))
	job.Status.SucceededNodes = "n1"
	require.NoError(t, c.Status().Update(t.Context(), job))
	s := newSite(t, api)
	l := s.listen("/api/stream/detail?kind=DaemonJob&namespace=a&name=fix")
	assert.Equal(t, []mapNode{
		{Name: "n1", State: "Succeed", Tone: toneGood}, {Name: "n2", State: "Pending", Tone: toneWait}, {Name: "n10", State: "Pending", Tone: toneWait},
	}, decoded[[]mapNode](t, l.until("nodes", has("Succeed"))))

	run := jobOfNode(flowNamed("a", "x"), "x")
	isController := true
	run.Name, run.Labels = "fix-n2", map[string]string{daemonjob.LabelDaemonJob: "fix"}
	run.Annotations = map[string]string{daemonjob.AnnotationNode: "n2"}
	run.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: "DaemonJob", Name: "fix", UID: job.UID, Controller: &isController,
	}}
	require.NoError(t, c.Create(t.Context(), run))
	assert.Equal(t, []mapNode{{Name: "n2", State: "Running", Tone: toneRun, Job: "fix-n2"}}, decoded[[]mapNode](t, l.until("nodes", nil)))
	require.NoError(t, c.Delete(t.Context(), node("n10")))
	assert.JSONEq(t, `["n10"]`, l.until("nodesGone", nil))
}

// A manager has a moment to reconcile an old object that was just changed. The managed fields have the time of the change.
func TestAChangeOfAnOldObjectIsNotTakenForAnAbsentManager(t *testing.T) {
	flow := flowNamed("a", "nightly")
	changed := metav1.NewTime(time.Now().Add(time.Minute)) // however late the explanation is
	var fields metav1.FieldsV1
	fields.SetRawBytes([]byte(`{"f:spec":{}}`))
	flow.CreationTimestamp, flow.Generation, flow.Status.ObservedGeneration = metav1.NewTime(changed.Add(-time.Hour)), 2, 1
	flow.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: "kubectl", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: v1alpha1.GroupVersion.String(), Time: &changed,
		FieldsType: "FieldsV1", FieldsV1: &fields,
	}}
	l := newSite(t, newAPI(t, flow)).listen("/api/stream/detail?kind=JobFlow&namespace=a&name=nightly")
	object := decoded[objectView](t, l.until("object", nil))
	assert.NotContains(t, object.Object["metadata"], "managedFields", "they aren't shown")
	assert.NotContains(t, object.YAML, "managedFields")
	assert.NotContains(t, l.until("explain", nil), "NoManager")
}

// Without a manager nothing changes any more, and an explanation depends on the time, too.
func TestTheAbsenceOfAManagerIsFoundWithoutAChange(t *testing.T) {
	flow := flowNamed("a", "nightly")
	flow.CreationTimestamp, flow.Generation = metav1.NewTime(time.Now().Add(-2*time.Second)), 1 // explanations allow a manager 5 s
	s := newSiteWith(t, newAPI(t, flow), reminderPace{quiet: 100 * time.Millisecond, again: 100 * time.Millisecond})
	s.listen("/api/stream/detail?kind=JobFlow&namespace=a&name=nightly").until("explain", has(`"reason":"NoManager"`))
}

// A feed keeps what an open drawer shows. A user can have 100 of them open, of objects whose lists have small items.
func TestADrawerKeepsItsObjectAsJSON(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"note": strings.Repeat("<", 10_000), "tolerations": slices.Repeat([]any{map[string]any{}}, 10_000), "parallelism": int64(3),
	}}}
	u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("ReplicaJob"))
	u.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl"}})
	kept := whole(u)
	assert.Less(t, cap(kept), 50_000)
	again, err := objectOf(kept)
	require.NoError(t, err)
	assert.Equal(t, u, again)
}
