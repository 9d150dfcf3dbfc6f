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

// Quotas are the ResourceQuotas of a cluster, and what its pods use of them. They know all resources of pods, and no scopes: a quota counts
// all pods.
type Quotas struct {
	quotas []*corev1.ResourceQuota
	pods   []*corev1.Pod
	now    time.Time
	used   map[string]corev1.ResourceList // by namespaces that were asked for
}

// NewQuotas returns the quotas of a cluster with pods.
func NewQuotas(quotas []*corev1.ResourceQuota, pods []*corev1.Pod, now time.Time) *Quotas {
	return &Quotas{quotas, pods, now, map[string]corev1.ResourceList{}}
}

// Refuse returns the message with which the API server refuses a new pod because of a ResourceQuota of its namespace; empty if it admits
// the pod. The pod has its defaults.
func (q *Quotas) Refuse(pod *corev1.Pod) string {
	quotas := inNamespace(q.quotas, pod.Namespace)
	for _, one := range quotas {
		if missing := unspecified(one, pod); missing != "" {
			return fmt.Sprintf("failed quota: %s: must specify %s", one.Name, missing)
		}
	}
	asked := UsageOf(pod, q.now)
	for _, one := range quotas {
		if exceeded := exceeded(one, q.usedIn(pod.Namespace, quotas), asked); exceeded != "" {
			return fmt.Sprintf("exceeded quota: %s, %s", one.Name, exceeded)
		}
	}
	return ""
}

// usedIn returns what the pods of a namespace use of its quotas.
func (q *Quotas) usedIn(namespace string, quotas []*corev1.ResourceQuota) corev1.ResourceList {
	if used, found := q.used[namespace]; found {
		return used
	}
	limited := corev1.ResourceList{}
	for _, one := range quotas {
		maps.Copy(limited, one.Spec.Hard)
	}
	usage := numberOf // it takes far less time, and the API server asks for each new pod
	for name := range limited {
		if name != corev1.ResourcePods && name != countPods {
			usage = UsageOf
		}
	}
	used := corev1.ResourceList{}
	for _, pod := range inNamespace(q.pods, namespace) {
		for name, n := range usage(pod, q.now) {
			if _, counts := limited[name]; counts {
				total := used[name]
				total.Add(n)
				used[name] = total
			}
		}
	}
	q.used[namespace] = used
	return used
}

func inNamespace[T interface{ GetNamespace() string }](objects []T, namespace string) []T {
	return slices.DeleteFunc(slices.Clone(objects), func(o T) bool { return o.GetNamespace() != namespace })
}

// needed are the resources that each container must specify if a quota limits them.
var needed = []corev1.ResourceName{
	corev1.ResourceCPU, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceMemory, corev1.ResourceRequestsCPU,
	corev1.ResourceRequestsMemory,
}

// Unspecified returns the needed resources that a container of a pod doesn't specify.
func Unspecified(pod *corev1.Pod) []corev1.ResourceName {
	return slices.DeleteFunc(slices.Clone(needed), func(name corev1.ResourceName) bool { return len(containersWithout(name, pod)) == 0 })
}

// containersWithout returns the names of the containers that don't specify a resource. Resources of the whole pod are enough.
func containersWithout(name corev1.ResourceName, pod *corev1.Pod) []string {
	if helpers.IsPodLevelResourcesSet(pod) {
		return nil
	}
	var without []string
	for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
		if _, found := resourcesOf(c.Resources.Requests, c.Resources.Limits)[name]; !found {
			without = append(without, c.Name)
		}
	}
	slices.Sort(without)
	return without
}

// unspecified returns the needed resources of a quota that containers don't specify, with their names: "cpu for: main,proxy"; empty for
// none.
func unspecified(q *corev1.ResourceQuota, pod *corev1.Pod) string {
	var all []string
	for _, name := range needed {
		if _, limited := q.Spec.Hard[name]; !limited {
			continue
		}
		if without := containersWithout(name, pod); len(without) > 0 {
			all = append(all, fmt.Sprintf("%s for: %s", name, strings.Join(without, ",")))
		}
	}
	return strings.Join(all, "; ")
}

// exceeded returns which resources of a quota a new pod exceeds, as the API server names them; empty for none.
func exceeded(q *corev1.ResourceQuota, used, asked corev1.ResourceList) string {
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

// UsageOf returns how much of each resource a pod takes.
func UsageOf(pod *corev1.Pod, now time.Time) corev1.ResourceList {
	usage := numberOf(pod, now)
	if _, runs := usage[corev1.ResourcePods]; runs {
		options := helpers.PodResourcesOptions{UseStatusResources: true}
		maps.Copy(usage, resourcesOf(helpers.PodRequests(pod, options), helpers.PodLimits(pod, options)))
	}
	return usage
}

// numberOf returns a pod as a number of objects and, unless it has ended, of running pods.
func numberOf(pod *corev1.Pod, now time.Time) corev1.ResourceList {
	one := *resource.NewQuantity(1, resource.DecimalSI)
	if at, found := ReleasesQuota(pod); found && !now.Before(at) {
		return corev1.ResourceList{countPods: one}
	}
	return corev1.ResourceList{corev1.ResourcePods: one, countPods: one}
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
