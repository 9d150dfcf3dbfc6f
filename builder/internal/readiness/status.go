package readiness

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// State is how far an object is.
type State int

const (
	// Ready: the object is what its spec asks for.
	Ready State = iota
	// InProgress: it is on its way, as far as one can see.
	InProgress
	// Failed: it won't get there before someone changes something.
	Failed
)

// Status is how far an object is, and why it isn't further.
type Status struct {
	State State
	// Why is one line of at most maxWhy bytes, mostly empty if the object is ready.
	Why string
}

// maxWhy bounds what is taken over from an object's own messages, in bytes.
const maxWhy = 256

func inProgress(format string, args ...any) Status {
	return Status{InProgress, oneLine(fmt.Sprintf(format, args...))}
}

func failed(format string, args ...any) Status {
	return Status{Failed, oneLine(fmt.Sprintf(format, args...))}
}

func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= maxWhy {
		return text
	}
	const mark = "…"
	return strings.ToValidUTF8(text[:maxWhy-len(mark)], "") + mark
}

// Of returns how far an object is that was read from a cluster. The object stays as it is.
func Of(obj client.Object) Status {
	if obj.GetDeletionTimestamp() != nil {
		return inProgress("is being deleted")
	}
	switch o := obj.(type) {
	case *appsv1.Deployment:
		return ofDeployment(o)
	case *appsv1.StatefulSet:
		return ofStatefulSet(o)
	case *appsv1.DaemonSet:
		return ofDaemonSet(o)
	case *appsv1.ReplicaSet:
		return ofReplicaSet(o)
	case *batchv1.Job:
		return ofJob(o)
	case *corev1.Pod:
		return ofPod(o)
	case *corev1.PersistentVolumeClaim:
		return ofClaim(o)
	case *corev1.Service:
		return ofService(o)
	case *policyv1.PodDisruptionBudget:
		return ofBudget(o)
	case *corev1.ConfigMap, *corev1.Secret, *corev1.ServiceAccount, *batchv1.CronJob:
		return Status{}
	case *unstructured.Unstructured:
		if typed := typedOf(o); typed != nil {
			return Of(typed)
		}
	}
	return ofConditions(obj)
}

// typedOf returns an unstructured object of a kind with a rule of its own as that kind, else nil.
func typedOf(u *unstructured.Unstructured) client.Object {
	gvk := u.GroupVersionKind()
	empty, ok := builtin[gvk.GroupKind()]
	if !ok {
		return nil
	}
	obj := empty()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, obj); err != nil {
		return nil
	}
	return obj
}

var builtin = map[schema.GroupKind]func() client.Object{
	{Group: "apps", Kind: "Deployment"}:            func() client.Object { return &appsv1.Deployment{} },
	{Group: "apps", Kind: "StatefulSet"}:           func() client.Object { return &appsv1.StatefulSet{} },
	{Group: "apps", Kind: "DaemonSet"}:             func() client.Object { return &appsv1.DaemonSet{} },
	{Group: "apps", Kind: "ReplicaSet"}:            func() client.Object { return &appsv1.ReplicaSet{} },
	{Group: "batch", Kind: "Job"}:                  func() client.Object { return &batchv1.Job{} },
	{Group: "", Kind: "Pod"}:                       func() client.Object { return &corev1.Pod{} },
	{Group: "", Kind: "PersistentVolumeClaim"}:     func() client.Object { return &corev1.PersistentVolumeClaim{} },
	{Group: "", Kind: "Service"}:                   func() client.Object { return &corev1.Service{} },
	{Group: "policy", Kind: "PodDisruptionBudget"}: func() client.Object { return &policyv1.PodDisruptionBudget{} },
}

// unobserved reports that a controller has not looked at the object's present spec.
func unobserved(obj client.Object, observed int64) (Status, bool) {
	if observed < obj.GetGeneration() {
		return inProgress("generation %d is not observed yet", obj.GetGeneration()), true
	}
	return Status{}, false
}
