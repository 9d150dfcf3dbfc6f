package family

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// many is from how many kinds on each is asked for metadata first.
const many = 10

// everyKind returns the kinds that the cluster can list where the family is, but for events and Endpoints, which
// no one owns. What a broken aggregated API has is left out.
func (g *gathering) everyKind() ([]schema.GroupVersionKind, error) {
	lists, err := g.source.Discovery.ServerPreferredResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, fmt.Errorf("ask the cluster for its kinds: %w", err)
	}
	var kinds []schema.GroupVersionKind
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for _, r := range list.APIResources {
			if canOwn(r) && (r.Namespaced || g.namespace == "") {
				kinds = append(kinds, gv.WithKind(r.Kind))
			}
		}
	}
	return kinds, nil
}

func canOwn(r metav1.APIResource) bool {
	return slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "get") && r.Kind != "Event" && r.Kind != "Endpoints"
}
