package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helpers "k8s.io/component-helpers/resource"
)

// countPods is the quota of all stored pods. The quota "pods" doesn't count the ended ones.
const countPods corev1.ResourceName = "count/pods"

// RefusedByQuota returns the message with which the API server refuses a new pod because of a ResourceQuota of its namespace; empty if it
// admits the pod. The pod has its defaults. It knows all resources of pods. It doesn't know scopes: a quota counts all pods.
func RefusedByQuota(quotas []*corev1.ResourceQuota, pods []*corev1.Pod, pod *corev1.Pod, now time.Time) string {
	quotas = inNamespace(quotas, pod.Namespace)
	for _, q := range quotas {
		if missing := unspecified(q, pod); missing != "" {
			return fmt.Sprintf("failed quota: %s: must specify %s", q.Name, missing)
		}
	}
	asked := UsageOf(pod, now)
	for _, q := range quotas {
		if exceeded := exceeded(q, inNamespace(pods, pod.Namespace), asked, now); exceeded != "" {
			return fmt.Sprintf("exceeded quota: %s, %s", q.Name, exceeded)
		}
	}
	return ""
}

func inNamespace[T interface{ GetNamespace() string }](objects []T, namespace string) []T {
	return slices.DeleteFunc(slices.Clone(objects), func(o T) bool { return o.GetNamespace() != namespace })
}

// needed are the resources that each container must specify if a quota limits them.
var needed = []corev1.ResourceName{
	corev1.ResourceCPU, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceMemory, corev1.ResourceRequestsCPU,
	corev1.ResourceRequestsMemory,
}

// unspecified returns the needed resources of a quota that containers don't specify, with their names: "cpu for: main,proxy"; empty for
// none. Resources of the whole pod are enough.
func unspecified(q *corev1.ResourceQuota, pod *corev1.Pod) string {
	if helpers.IsPodLevelResourcesSet(pod) {
		return ""
	}
	var all []string
	for _, name := range needed {
		if _, limited := q.Spec.Hard[name]; !limited {
			continue
		}
		var without []string
		for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
			if _, found := resourcesOf(c.Resources.Requests, c.Resources.Limits)[name]; !found {
				without = append(without, c.Name)
			}
		}
		if len(without) > 0 {
			slices.Sort(without)
			all = append(all, fmt.Sprintf("%s for: %s", name, strings.Join(without, ",")))
		}
	}
	return strings.Join(all, "; ")
}

// exceeded returns which resources of a quota a new pod exceeds, as the API server names them; empty for none.
func exceeded(q *corev1.ResourceQuota, pods []*corev1.Pod, asked corev1.ResourceList, now time.Time) string {
	used := corev1.ResourceList{}
	for _, p := range pods {
		add(used, UsageOf(p, now))
	}
	var requested, present, limited []string
	for _, name := range slices.Sorted(maps.Keys(q.Spec.Hard)) {
		more, hard, sum := asked[name], q.Spec.Hard[name], used[name]
		total := sum.DeepCopy()
		if total.Add(more); more.IsZero() || total.Cmp(hard) <= 0 {
			continue
		}
		requested = append(requested, fmt.Sprintf("%s=%s", name, more.String()))
		present = append(present, fmt.Sprintf("%s=%s", name, sum.String()))
		limited = append(limited, fmt.Sprintf("%s=%s", name, hard.String()))
	}
	if len(requested) == 0 {
		return ""
	}
	return fmt.Sprintf("requested: %s, used: %s, limited: %s",
		strings.Join(requested, ","), strings.Join(present, ","), strings.Join(limited, ","))
}

func add(sum, more corev1.ResourceList) {
	for name, n := range more {
		total := sum[name].DeepCopy()
		total.Add(n)
		sum[name] = total
	}
}

// UsageOf returns how much of each resource a pod takes.
func UsageOf(pod *corev1.Pod, now time.Time) corev1.ResourceList {
	one := *resource.NewQuantity(1, resource.DecimalSI)
	if at, found := ReleasesQuota(pod); found && !now.Before(at) {
		return corev1.ResourceList{countPods: one}
	}
	options := helpers.PodResourcesOptions{UseStatusResources: true}
	usage := resourcesOf(helpers.PodRequests(pod, options), helpers.PodLimits(pod, options))
	usage[corev1.ResourcePods], usage[countPods] = one, one
	return usage
}

// ReleasesQuota returns from when on the API server counts a pod as an object only: once it has ended, or when the grace period has
// passed since it should have been deleted. That pod may be on a lost node, and must not stand in the way of its successor.
func ReleasesQuota(pod *corev1.Pod) (at time.Time, found bool) {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return time.Time{}, true
	}
	if pod.DeletionTimestamp == nil || pod.DeletionGracePeriodSeconds == nil {
		return time.Time{}, false
	}
	return pod.DeletionTimestamp.Add(time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second), true
}

// resourcesOf returns requests and limits by the names that quotas have for them. Requests have two names, as "cpu" and "requests.cpu";
// those of extended resources only the second. Quotas limit the limits of three resources.
func resourcesOf(requests, limits corev1.ResourceList) corev1.ResourceList {
	all := corev1.ResourceList{}
	for name, n := range requests {
		all[corev1.DefaultResourceRequestsPrefix+name] = n
		if !strings.Contains(string(name), "/") {
			all[name] = n
		}
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		if n, found := limits[name]; found {
			all["limits."+name] = n
		}
	}
	return all
}
