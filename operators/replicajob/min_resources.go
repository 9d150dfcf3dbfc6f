package replicajob

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/component-helpers/resource"
)

// minResources sums up what the first n replicas request: those of a higher priority first, then by rank.
func (o *observed) minResources(n int32, classes []*schedulingv1.PriorityClass) corev1.ResourceList {
	groups := slices.Clone(o.groups)
	slices.SortStableFunc(groups, func(a, b *group) int {
		return cmp.Compare(priorityOf(&b.spec.Template.Spec, classes), priorityOf(&a.spec.Template.Spec, classes))
	})
	sum := corev1.ResourceList{}
	left := int64(n)
	for _, g := range groups {
		pods := min(left, int64(len(g.replicas)))
		for name, amount := range podRequests(&g.spec.Template.Spec) {
			total := amount.DeepCopy() // amounts may share what is behind them
			total.Mul(pods)
			before := sum[name]
			before.Add(total)
			sum[name] = before
		}
		if left -= pods; left == 0 {
			break
		}
	}
	return sum
}

// priorityOf returns the priority that pods of a template get.
func priorityOf(pod *corev1.PodSpec, classes []*schedulingv1.PriorityClass) int32 {
	if pod.Priority != nil {
		return *pod.Priority
	}
	for _, class := range classes {
		if pod.PriorityClassName == class.Name || pod.PriorityClassName == "" && class.GlobalDefault {
			return class.Value
		}
	}
	return 0
}

// podRequests returns what a pod of a template requests of a node. A limit stands for a missing request, as on the API server.
func podRequests(template *corev1.PodSpec) corev1.ResourceList {
	pod := corev1.Pod{Spec: *template.DeepCopy()}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			resources := &containers[i].Resources
			requests := maps.Clone(resources.Limits)
			if requests == nil {
				continue
			}
			maps.Copy(requests, resources.Requests)
			resources.Requests = requests
		}
	}
	return resource.PodRequests(&pod, resource.PodResourcesOptions{})
}

// amountsOf returns resources as they stand in an object without a Go type.
func amountsOf(resources corev1.ResourceList) map[string]any {
	amounts := make(map[string]any, len(resources))
	for name, amount := range resources {
		amounts[string(name)] = amount.String()
	}
	return amounts
}
