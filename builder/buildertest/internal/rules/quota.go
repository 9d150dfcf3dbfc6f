package rules

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// ExceededQuota returns the message with which the API server refuses a new pod that exceeds a ResourceQuota of its namespace; empty if
// it doesn't. It knows pods, count/pods, and the requests of resources, without scopes.
func ExceededQuota(quotas []*corev1.ResourceQuota, pods []*corev1.Pod, pod *corev1.Pod) string {
	for _, q := range quotas {
		var asked, used, limited []string
		for name, hard := range q.Spec.Hard {
			want := quotaOf(pod, name)
			if q.Namespace != pod.Namespace || want.IsZero() {
				continue
			}
			var sum resource.Quantity
			for _, p := range pods {
				if p.Namespace == pod.Namespace && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
					sum.Add(quotaOf(p, name))
				}
			}
			total := sum.DeepCopy()
			if total.Add(want); total.Cmp(hard) > 0 {
				asked = append(asked, fmt.Sprintf("%s=%s", name, want.String()))
				used = append(used, fmt.Sprintf("%s=%s", name, sum.String()))
				limited = append(limited, fmt.Sprintf("%s=%s", name, hard.String()))
			}
		}
		if len(asked) > 0 {
			for _, list := range [][]string{asked, used, limited} {
				slices.Sort(list)
			}
			return fmt.Sprintf("exceeded quota: %s, requested: %s, used: %s, limited: %s",
				q.Name, strings.Join(asked, ","), strings.Join(used, ","), strings.Join(limited, ","))
		}
	}
	return ""
}

// quotaOf returns how much of a quota's resource a pod takes.
func quotaOf(pod *corev1.Pod, name corev1.ResourceName) resource.Quantity {
	if name == corev1.ResourcePods || name == "count/pods" {
		return *resource.NewQuantity(1, resource.DecimalSI)
	}
	var sum resource.Quantity
	of := corev1.ResourceName(strings.TrimPrefix(string(name), "requests."))
	for _, c := range pod.Spec.Containers {
		sum.Add(c.Resources.Requests[of])
	}
	return sum
}
