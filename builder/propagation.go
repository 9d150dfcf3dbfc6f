package builder

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// propagation is how an object is deleted together with what it owns: in the background, so that it is gone at once; or
// in the foreground, if it has that finalizer already. Such an object was made to stay until what it owns is gone, and
// the API server can't delete it otherwise by its resource version: it compares the version with none (seen in 1.37).
func propagation(obj client.Object) client.PropagationPolicy {
	if slices.Contains(obj.GetFinalizers(), metav1.FinalizerDeleteDependents) {
		return client.PropagationPolicy(metav1.DeletePropagationForeground)
	}
	return client.PropagationPolicy(metav1.DeletePropagationBackground)
}
