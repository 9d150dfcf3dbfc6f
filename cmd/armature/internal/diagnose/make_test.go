package diagnose

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// now is when all tests are; what they make is a minute old.
var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

// made turns a typed object into what is diagnosed.
func made(obj client.Object, told []Event, owned ...*Object) *Object {
	scheme := runtime.NewScheme()
	_ = clientgoscheme.AddToScheme(scheme)
	_ = v1alpha1.AddToScheme(scheme)
	if at := obj.GetCreationTimestamp(); at.IsZero() {
		obj.SetCreationTimestamp(ago(time.Minute))
	}
	obj.SetNamespace("team")
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		panic(err)
	}
	gvk, err := apiutil.GVKForObject(obj, scheme)
	if err != nil {
		panic(err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(gvk)
	return NewObject(u, told, owned...)
}

// makeFlow returns a JobFlow that its operator has seen.
func makeFlow(change func(*v1alpha1.JobFlow), owned ...*Object) *Object {
	f := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Name: "f", Generation: 1}}
	f.Status.ObservedGeneration = 1
	f.Status.State = v1alpha1.StateRunning
	if change != nil {
		change(f)
	}
	return made(f, nil, owned...)
}

// makeJob returns a Job that its controller has seen.
func makeJob(name string, change func(*batchv1.Job), told []Event, owned ...*Object) *Object {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}}
	started := ago(time.Minute)
	j.Status.StartTime = &started
	if change != nil {
		change(j)
	}
	return made(j, told, owned...)
}

func failedJob(j *batchv1.Job) {
	j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "BackoffLimitExceeded", Message: "Job has reached the specified backoff limit"}}
	j.Status.Failed = 1
}

// makePod returns a pod that runs on node n.
func makePod(name string, change func(*corev1.Pod), told ...Event) *Object {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.NodeName = "n"
	p.Spec.Containers = []corev1.Container{{Name: "main", Image: "app:1"}}
	p.Status.Phase = corev1.PodRunning
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(time.Minute)}}}}
	if change != nil {
		change(p)
	}
	return made(p, told)
}

// pending is a pod that has no node, in the words of the scheduler.
func pending(change func(*corev1.Pod)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.NodeName = ""
		p.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/1 nodes are available: 1 Insufficient cpu.",
		}}}
		if change != nil {
			change(p)
		}
	}
}

// waiting is a pod whose container waits for a reason.
func waiting(reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodPending
		p.Status.ContainerStatuses[0].Ready = false
		p.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	}
}

// exited is a pod that failed with an exit code.
func exited(code int32, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodFailed
		p.Status.ContainerStatuses[0].Ready = false
		p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error", Message: message}}
	}
}

// makeNode returns a node that is ready.
func makeNode(name string, change func(*corev1.Node)) corev1.Node {
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if change != nil {
		change(&n)
	}
	return n
}

func makeDeployment(change func(*appsv1.Deployment), owned ...*Object) *Object {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "d", Generation: 1}}
	d.Status.ObservedGeneration = 1
	if change != nil {
		change(d)
	}
	return made(d, nil, owned...)
}

func warn(reason, message string) Event {
	return Event{Type: corev1.EventTypeWarning, Reason: reason, Message: message, Last: now}
}

func intOf(n int) intstr.IntOrString { return intstr.FromInt(n) }

// makeClaim returns a claim in a phase.
func makeClaim(phase corev1.PersistentVolumeClaimPhase) *Object {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}}
	c.Status.Phase = phase
	return made(c, nil)
}
