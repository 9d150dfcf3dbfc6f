package tenants

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// kind is a kind that tenants create, by its smallest object. The victim's are probes, the attacker's are many.
type kind struct {
	name   string
	object func(namespace, name string) client.Object
	list   func() client.ObjectList // of the objects that show that one was served
	served func(shown client.Object) (name string, ok bool)
}

// The kinds. An object is served when its Job or its pod exists, and a FluxJob when its queue admits it.
var (
	jobFlow = kind{
		name: "JobFlow", list: jobs, served: controller("JobFlow"),
		object: func(namespace, name string) client.Object {
			return makeFlow(namespace, name, v1alpha1.Flow{Name: "a", JobTemplate: jobSpec()})
		},
	}
	daemonJob = kind{
		name: "DaemonJob", list: jobs, served: controller("DaemonJob"),
		object: func(namespace, name string) client.Object {
			return &v1alpha1.DaemonJob{ObjectMeta: meta(namespace, name), Spec: v1alpha1.DaemonJobSpec{Template: podTemplate()}}
		},
	}
	replicaJob = kind{
		name: "ReplicaJob", list: func() client.ObjectList { return &corev1.PodList{} }, served: controller("ReplicaJob"),
		object: func(namespace, name string) client.Object {
			return &v1alpha1.ReplicaJob{ObjectMeta: meta(namespace, name), Spec: v1alpha1.ReplicaJobSpec{
				ReplicaSpecs: map[v1alpha1.ReplicaType]v1alpha1.ReplicaSpec{v1alpha1.ReplicaWorker: {Template: podTemplate()}},
			}}
		},
	}
	miniCluster = kind{
		name: "MiniCluster", list: jobs, served: controller("MiniCluster"),
		object: func(namespace, name string) client.Object {
			return &v1alpha1.MiniCluster{ObjectMeta: meta(namespace, name), Spec: v1alpha1.MiniClusterSpec{
				Size: 1, Containers: []v1alpha1.MiniClusterContainer{{Image: image, Command: "true"}},
			}}
		},
	}
	fluxJob = kind{
		name: "FluxJob", list: func() client.ObjectList { return &v1alpha1.FluxJobList{} },
		object: func(namespace, name string) client.Object { return makeFluxJob(namespace, name, namespace) },
		served: func(shown client.Object) (string, bool) {
			job, ok := shown.(*v1alpha1.FluxJob)
			return shown.GetName(), ok && job.Status.Admission != nil
		},
	}
)

const image = "busybox:1.28"

// podTemplate is a pod that needs nothing. No scheduler knows it, so that it costs nothing once it exists.
func podTemplate() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, SchedulerName: "none", Containers: []corev1.Container{{Name: "main", Image: image}},
	}}
}

func jobSpec() *batchv1.JobSpec { return &batchv1.JobSpec{Template: podTemplate()} }

func meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

func makeFlow(namespace, name string, flows ...v1alpha1.Flow) *v1alpha1.JobFlow {
	return &v1alpha1.JobFlow{ObjectMeta: meta(namespace, name), Spec: v1alpha1.JobFlowSpec{Flows: flows}}
}

func makeFluxJob(namespace, name, queue string) *v1alpha1.FluxJob {
	return &v1alpha1.FluxJob{ObjectMeta: meta(namespace, name), Spec: v1alpha1.FluxJobSpec{Image: image, Command: "true", Queue: queue}}
}

func jobs() client.ObjectList { return &batchv1.JobList{} }

// controller says whose child an object is, if that is of a kind.
func controller(of string) func(child client.Object) (string, bool) {
	return func(child client.Object) (string, bool) {
		owner := metav1.GetControllerOfNoCopy(child)
		if owner == nil || owner.Kind != of {
			return "", false
		}
		return owner.Name, true
	}
}
