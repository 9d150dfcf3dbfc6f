package needs

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// Reduced returns of a job's spec its queue, its priority, its deadline, and what its share depends on. It is for a program that holds many
// jobs. A job with [Problems] is never admitted, so nothing of its resources is kept, of which it may have any number.
func Reduced(job *v1alpha1.FluxJob) v1alpha1.FluxJobSpec {
	requests := func(r *corev1.ResourceRequirements) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: r.Requests, Limits: r.Limits}
	}
	if len(Problems(job)) > 0 {
		requests = func(*corev1.ResourceRequirements) corev1.ResourceRequirements { return corev1.ResourceRequirements{} }
	}
	spec := &job.Spec
	small := v1alpha1.FluxJobSpec{
		Size: spec.Size, Queue: spec.Queue, Priority: spec.Priority, Suspend: spec.Suspend, DeadlineSeconds: spec.DeadlineSeconds,
	}
	if spec.Resources != nil {
		small.Resources = new(requests(spec.Resources))
	}
	template := spec.MiniCluster
	if template == nil {
		return small
	}
	small.MiniCluster = &v1alpha1.MiniClusterSpec{
		Size: template.Size, MinSize: template.MinSize, MaxSize: template.MaxSize, DeadlineSeconds: template.DeadlineSeconds,
		Containers: make([]v1alpha1.MiniClusterContainer, len(template.Containers)),
		Services:   make([]v1alpha1.MiniClusterContainer, len(template.Services)),
		Pod:        v1alpha1.MiniClusterPod{Resources: requests(&corev1.ResourceRequirements{Requests: template.Pod.Resources}).Requests},
	}
	for i := range template.Containers {
		small.MiniCluster.Containers[i].Resources = requests(&template.Containers[i].Resources)
	}
	for i := range template.Services {
		small.MiniCluster.Services[i].Resources = requests(&template.Services[i].Resources)
	}
	flux := &small.MiniCluster.Flux
	flux.Disable, flux.Container.Disable = template.Flux.Disable, template.Flux.Container.Disable
	flux.Container.Resources = requests(&template.Flux.Container.Resources)
	return small
}
