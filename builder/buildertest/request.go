package buildertest

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// request is one call of a client, as it arrives at the server.
type request struct {
	Call
	kind    kind
	manager string // field owner
	force   bool   // of an apply
	live    bool   // a read past the cache
}

// isCached reports whether a cache answers the request.
func (r *request) isCached() bool { return (r.Verb == VerbGet || r.Verb == VerbList) && !r.live }

func isDryRun(values []string) bool { return slices.Contains(values, metav1.DryRunAll) }

func (r *request) key() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
}
