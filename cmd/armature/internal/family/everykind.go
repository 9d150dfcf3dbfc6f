package family

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// many is from how many kinds on each is asked for metadata first.
const many = 10

// everyKind returns the kinds that the cluster can list where the family is, but for events and Endpoints, which no one owns. Groups that
// can't be discovered, such as those of a broken aggregated API, are left out and recorded as unread.
func (g *gathering) everyKind() ([]schema.GroupVersionKind, error) {
	lists, err := g.source.Discovery.ServerPreferredResources()
	failed, isPartial := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !isPartial {
		return nil, fmt.Errorf("ask the cluster for its kinds: %w", err)
	}
	g.noteGroups(failed)
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

// noteGroups records the groups that can't be discovered and whose kinds can have a problem.
func (g *gathering) noteGroups(failed map[schema.GroupVersion]error) {
	byName := func(a, b schema.GroupVersion) int { return cmp.Compare(a.String(), b.String()) }
	for _, gv := range slices.SortedFunc(maps.Keys(failed), byName) {
		if !apierrors.IsNotFound(failed[gv]) && (g.source.Stateless || groupCanHaveProblem(gv.Group)) {
			g.unread = append(g.unread, fmt.Errorf("discover the kinds of %s: %w", gv, failed[gv]))
		}
	}
}

func canOwn(r metav1.APIResource) bool {
	return slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "get") && r.Kind != "Event" && r.Kind != "Endpoints"
}
