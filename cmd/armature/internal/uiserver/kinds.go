package uiserver

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// kind is a kind that the page shows.
type kind struct {
	schema.GroupVersionKind
	resource   string // plural and group
	namespaced bool
}

// own are Armature's kinds, in the order in which they are shown.
var own = []schema.GroupKind{
	{Group: v1alpha1.GroupVersion.Group, Kind: "JobFlow"}, {Group: v1alpha1.GroupVersion.Group, Kind: "FluxJob"},
	{Group: v1alpha1.GroupVersion.Group, Kind: "MiniCluster"}, {Group: v1alpha1.GroupVersion.Group, Kind: "ReplicaJob"},
	{Group: v1alpha1.GroupVersion.Group, Kind: "DaemonJob"}, {Group: v1alpha1.GroupVersion.Group, Kind: "JobTemplate"},
	{Group: v1alpha1.GroupVersion.Group, Kind: "FluxSetup"},
}

// podLog is the name in which the page asks for the right to read the output of pods.
const podLog = "PodLog"

// below are kinds of which the drawer shows objects, and none of its own lists.
var below = []schema.GroupKind{{Kind: "Pod"}, {Kind: "Event"}, {Kind: "Node"}, {Group: "batch", Kind: "Job"}}

// CheckKinds returns an error if the page can't show these kinds of other operators beside its own: it identifies a kind by its name alone.
func CheckKinds(kinds []schema.GroupKind) error {
	shown := map[string]schema.GroupKind{podLog: {Kind: podLog}}
	for _, gk := range slices.Concat(own, below) {
		shown[gk.Kind] = gk
	}
	for i, gk := range kinds {
		same, found := shown[gk.Kind]
		switch {
		case slices.Contains(kinds[:i], gk):
			return fmt.Errorf("%s is given twice", gk)
		case found && same == gk:
			return fmt.Errorf("%s is one of the kinds that the page shows without this flag", gk)
		case found:
			return fmt.Errorf("%s has the name of %s, which the page shows; accepted is a kind of another name", gk, same)
		}
		shown[gk.Kind] = gk
	}
	return nil
}

// kinds returns those of the page that the cluster has.
func (s *server) kinds(mapper meta.RESTMapper) ([]kind, error) {
	var found []kind
	for _, gk := range slices.Concat(own, s.Kinds) {
		k, err := kindOf(mapper, gk)
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, k)
	}
	return found, nil
}

func kindOf(mapper meta.RESTMapper, gk schema.GroupKind) (kind, error) {
	mapping, err := mapper.RESTMapping(gk)
	if err != nil {
		return kind{}, err
	}
	return kind{
		GroupVersionKind: mapping.GroupVersionKind, resource: mapping.Resource.GroupResource().String(),
		namespaced: mapping.Scope.Name() == meta.RESTScopeNameNamespace,
	}, nil
}

// find returns the kind of a name: one of the page's, or one below them. CheckKinds holds that their names are unique.
func (s *server) find(mapper meta.RESTMapper, name string) (kind, error) {
	gk := schema.ParseGroupKind(name)
	for _, candidate := range slices.Concat(own, s.Kinds, below) {
		if candidate.Kind == gk.Kind && cmp.Or(gk.Group, candidate.Group) == candidate.Group {
			k, err := kindOf(mapper, candidate)
			if meta.IsNoMatchError(err) {
				return kind{}, &refusal{http.StatusNotFound, "NotFound", fmt.Sprintf("the cluster has no kind %s", candidate)}
			}
			return k, err
		}
	}
	return kind{}, badRequest(fmt.Sprintf("kind must be one that /api/access names, got %q", name))
}
