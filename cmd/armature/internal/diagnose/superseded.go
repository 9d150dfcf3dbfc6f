package diagnose

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// slotLabels distinguish siblings that do different work. Among siblings with the same values the newest counts: the others are
// earlier attempts.
var slotLabels = []string{
	"api.practice.com/flow", "api.practice.com/item", "api.practice.com/node", "api.practice.com/replica-type",
	"api.practice.com/replica-index", "batch.kubernetes.io/job-completion-index", "apps.kubernetes.io/pod-index",
}

func slot(o *Object) string {
	var values []string
	for _, label := range slotLabels {
		values = append(values, o.GetLabels()[label])
	}
	return strings.Join(values, "/")
}

// IsSuperseded reports whether a newer sibling has replaced an object: a failed pod, or a Job that was retried. An old ReplicaSet
// of a Deployment is scaled to 0.
func IsSuperseded(o *Object, siblings []*Object) bool {
	if o.is("ReplicaSet") && len(siblings) > 1 {
		n, set, _ := nestedNumber(o, "spec", "replicas")
		return set && n == 0
	}
	if o.pod == nil && o.job == nil || !HasFailed(o) {
		return false
	}
	at := slices.Index(siblings, o)
	for i, other := range siblings {
		if i <= at || other.GetKind() != o.GetKind() || slot(other) != slot(o) {
			continue
		}
		if HasFailed(other) || other.job != nil || other.pod.Status.Phase != corev1.PodPending {
			return true
		}
	}
	return false
}

func nestedNumber(o *Object, fields ...string) (int64, bool, error) {
	return unstructured.NestedInt64(o.Object, fields...)
}
