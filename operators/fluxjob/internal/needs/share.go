package needs

import (
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// Share is what a job needs to run.
type Share struct {
	// Size is that of the MiniCluster.
	Size int32
	// Pods is how many pods there are at the most.
	Pods int32
	// Resources are what all of them request.
	Resources corev1.ResourceList
}

// Of returns the share that a job needs of a setup, which is nil if there is none.
func Of(job *v1alpha1.FluxJob, setup *v1alpha1.FluxSetup) Share {
	size := Size(job, setup)
	s := Share{Size: size, Pods: Pods(job, size)}
	for name, n := range Requests(job, size) {
		if s.Resources == nil {
			s.Resources = corev1.ResourceList{}
		}
		s.Resources[name] = Quantity(name, n)
	}
	return s
}

// Requests yields how much of each resource a job of a size requests at the most, in the unit of [Scaled].
func Requests(job *v1alpha1.FluxJob, size int32) iter.Seq2[corev1.ResourceName, int64] {
	return func(yield func(corev1.ResourceName, int64) bool) {
		for _, name := range resourceNames(&job.Spec) {
			if n := Amount(job, size, name); n > 0 && !yield(name, n) {
				return
			}
		}
	}
}

// Size returns the size of a job's MiniCluster: its own, that of its template, or the default of the setup within the template's bounds.
func Size(job *v1alpha1.FluxJob, setup *v1alpha1.FluxSetup) int32 {
	template := job.Spec.MiniCluster
	switch {
	case job.Spec.Size != nil:
		return *job.Spec.Size
	case template != nil && template.Size > 1:
		return template.Size
	}
	size := int32(1)
	if setup != nil {
		size = ptr.Deref(setup.Spec.MiniCluster.Size, 1)
	}
	if template == nil {
		return size
	}
	size = max(size, template.MinSize)
	if template.MaxSize > 0 {
		size = min(size, template.MaxSize)
	}
	return size
}

// Most returns how large a job's MiniCluster of a size can grow.
func Most(job *v1alpha1.FluxJob, size int32) int32 {
	if template := job.Spec.MiniCluster; template != nil {
		return max(size, template.MaxSize)
	}
	return size
}

// Pods returns how many pods a job has at the most: what its MiniCluster of a size can grow to, and the pod of its services.
func Pods(job *v1alpha1.FluxJob, size int32) int32 {
	pods := Most(job, size)
	if template := job.Spec.MiniCluster; template != nil && len(template.Services) > 0 {
		pods++
	}
	return pods
}

// Amount returns how much of a resource a job of a size requests at the most, in the unit of [Scaled].
func Amount(job *v1alpha1.FluxJob, size int32, name corev1.ResourceName) int64 {
	template := job.Spec.MiniCluster
	if template == nil {
		if job.Spec.Resources == nil {
			return 0
		}
		return times(request(job.Spec.Resources, name), size)
	}
	total := times(podRequest(template, name), Most(job, size))
	for i := range template.Services {
		total = plus(total, request(&template.Services[i].Resources, name))
	}
	return total
}

// Names of what quotas count beside resources.
const (
	MiniClusters = "miniClusters"
	NumberOfPods = "pods"
)

// Counted returns how much a job of a size needs of something that quotas count: one MiniCluster, its pods, or a resource.
func Counted(job *v1alpha1.FluxJob, size int32, name string) int64 {
	switch name {
	case MiniClusters:
		return 1
	case NumberOfPods:
		return int64(Pods(job, size))
	default:
		return Amount(job, size, corev1.ResourceName(name))
	}
}

// podRequest is how much the scheduler reserves for one pod of a MiniCluster: the largest of what its containers request together, of what
// the init container with Flux requests, which runs before all others, and of what is set for the pod. The amount for the pod doesn't
// replace the others, because an API server without the feature PodLevelResources, such as that of Kubernetes 1.33, drops it.
func podRequest(template *v1alpha1.MiniClusterSpec, name corev1.ResourceName) int64 {
	var all int64
	for i := range template.Containers {
		all = plus(all, request(&template.Containers[i].Resources, name))
	}
	if flux := &template.Flux; !flux.Disable && !flux.Container.Disable {
		all = max(all, request(&flux.Container.Resources, name))
	}
	if q, ok := template.Pod.Resources[name]; ok {
		all = max(all, Scaled(name, q))
	}
	return all
}

// request is how much a container requests: where there is only a limit, Kubernetes takes that.
func request(r *corev1.ResourceRequirements, name corev1.ResourceName) int64 {
	q, ok := r.Requests[name]
	if !ok {
		q, ok = r.Limits[name]
	}
	if !ok {
		return 0
	}
	return Scaled(name, q)
}

// resourceNames returns the names of all that a job may request.
func resourceNames(spec *v1alpha1.FluxJobSpec) []corev1.ResourceName {
	var names []corev1.ResourceName
	eachResources(spec, func(_ string, _ int, r *corev1.ResourceRequirements) {
		for _, list := range []corev1.ResourceList{r.Requests, r.Limits} {
			for name := range list {
				names = append(names, name)
			}
		}
	})
	if spec.MiniCluster != nil {
		for name := range spec.MiniCluster.Pod.Resources {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
