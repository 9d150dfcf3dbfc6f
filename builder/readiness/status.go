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

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/internal/text"
)

// Status is the readiness of an object. The zero value means: not yet ready.
type Status struct {
	// Ready is true if the object has reached the state that its spec asks for. A Job is ready when it is complete.
	Ready bool
	// Failed is true if the object can't become ready until someone changes something: a Job has failed, a Deployment has exceeded its
	// deadline. An object that is neither ready nor failed is in progress. Failed is never true beside Ready.
	Failed bool
	// Message says in one line of at most 256 bytes why the object isn't ready, such as "1 of 3 replicas updated", or adds information
	// about a ready one.
	Message string
}

func inProgress(format string, args ...any) Status {
	return Status{Message: oneLine(fmt.Sprintf(format, args...))}
}

func failed(format string, args ...any) Status {
	return Status{Failed: true, Message: oneLine(fmt.Sprintf(format, args...))}
}

func oneLine(message string) string {
	return text.Shorten(strings.Join(strings.Fields(message), " "), text.MaxMessage)
}

// Of returns the readiness of an object, as read from a cluster, and doesn't change the object. A nil, of an object that wasn't found, is
// not ready. Use it in a plan that decides by
// readiness or reports it, and in a builder.ReadyWhen that extends the rules.
func Of(obj client.Object) Status {
	switch {
	case kinds.IsNil(obj):
		return inProgress("does not exist")
	case obj.GetDeletionTimestamp() != nil:
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
		return Status{Ready: true}
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

// unobserved reports whether a controller has not yet observed the object's present spec.
func unobserved(obj client.Object, observed int64) (Status, bool) {
	if observed < obj.GetGeneration() {
		return inProgress("generation %d is not observed yet", obj.GetGeneration()), true
	}
	return Status{Ready: true}, false
}
