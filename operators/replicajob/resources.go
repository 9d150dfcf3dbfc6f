package replicajob

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// minResources sums up what the first n replicas request: those of a higher priority first, then by rank.
func (r *roster) minResources(n int32, classes []*schedulingv1.PriorityClass) corev1.ResourceList {
	teams := slices.Clone(r.teams)
	slices.SortStableFunc(teams, func(a, b *team) int {
		return cmp.Compare(priorityOf(&b.spec.Template.Spec, classes), priorityOf(&a.spec.Template.Spec, classes))
	})
	sum := corev1.ResourceList{}
	left := int64(n)
	for _, t := range teams {
		pods := min(left, int64(len(t.slots)))
		for name, amount := range podRequests(&t.spec.Template.Spec) {
			total := amount.DeepCopy() // amounts may share what is behind them
			total.Mul(pods)
			add(sum, name, total)
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

// podRequests returns what a pod needs of a node: the sum of its containers and sidecars, or what an init container
// needs at its turn, whichever is more, and the overhead.
func podRequests(pod *corev1.PodSpec) corev1.ResourceList {
	sum := corev1.ResourceList{}
	for i := range pod.Containers {
		addAll(sum, requests(&pod.Containers[i]))
	}
	most, sidecars := corev1.ResourceList{}, corev1.ResourceList{}
	for i := range pod.InitContainers {
		c := &pod.InitContainers[i]
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			addAll(sum, requests(c))
			addAll(sidecars, requests(c))
			continue
		}
		atItsTurn := sidecars.DeepCopy()
		addAll(atItsTurn, requests(c))
		raise(most, atItsTurn)
	}
	raise(sum, most)
	addAll(sum, pod.Overhead)
	return sum
}

// requests returns what a container requests; a limit stands for a request that isn't there, as on the API server.
func requests(c *corev1.Container) corev1.ResourceList {
	all := make(corev1.ResourceList, len(c.Resources.Requests)+len(c.Resources.Limits))
	maps.Copy(all, c.Resources.Limits)
	maps.Copy(all, c.Resources.Requests)
	return all
}

func addAll(sum, more corev1.ResourceList) {
	for name, amount := range more {
		add(sum, name, amount)
	}
}

func add(sum corev1.ResourceList, name corev1.ResourceName, amount resource.Quantity) {
	total := sum[name]
	total.Add(amount)
	sum[name] = total
}

// raise makes each amount at least the other.
func raise(list, other corev1.ResourceList) {
	for name, amount := range other {
		if has, ok := list[name]; !ok || has.Cmp(amount) < 0 {
			list[name] = amount
		}
	}
}

// amountsOf returns resources as they stand in an object without a Go type.
func amountsOf(resources corev1.ResourceList) map[string]any {
	amounts := make(map[string]any, len(resources))
	for name, amount := range resources {
		amounts[string(name)] = amount.String()
	}
	return amounts
}
