package scaling

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/dsoi"
)

// rivals returns the name of an older object that scales the same pods or volumes: it alone does, so that two don't pull
// a node to and fro.
func (c *Controller[S]) rivals(ctx context.Context, scaling S) (map[about]string, error) {
	list, err := c.emptyList()
	if err != nil {
		return nil, err
	}
	if err := c.senses.cached.List(ctx, list, client.InNamespace(scaling.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list others of the kind: %w", err)
	}
	entries := map[string]*v1beta1.NodeScaling{}
	for i := range scaling.ScalingSpec().Autoscaling {
		e := &scaling.ScalingSpec().Autoscaling[i]
		entries[e.Name] = e
	}
	names := namesOf(dsoi.ScaledCluster(scaling), scaling.ScalingSpec().Autoscaling)
	rivals := map[about]string{}
	err = meta.EachListItem(list, func(o runtime.Object) error {
		other, ok := o.(dsoi.Scaling)
		if !ok || other.GetUID() == scaling.GetUID() || other.GetDeletionTimestamp() != nil ||
			dsoi.ScaledCluster(other) != dsoi.ScaledCluster(scaling) || !isOlder(other, scaling) {
			return nil
		}
		for i := range other.ScalingSpec().Autoscaling {
			theirs := &other.ScalingSpec().Autoscaling[i]
			for _, name := range names.of(theirs.Name) {
				for _, what := range scaledByBoth(entries[name], theirs) {
					rivals[what] = other.GetName()
				}
			}
		}
		return nil
	})
	return rivals, err
}

// scaledByBoth returns what two entries for one node scale both: its pods, volumes of a name.
func scaledByBoth(mine, theirs *v1beta1.NodeScaling) (both []about) {
	if isOn(mine.Spec) && isOn(theirs.Spec) {
		both = append(both, about{entry: mine.Name})
	}
	for i := range mine.Storage {
		name := mine.Storage[i].Name
		if slices.ContainsFunc(theirs.Storage, func(s v1beta1.StorageScaling) bool { return s.Name == name }) {
			both = append(both, about{mine.Name, name})
		}
	}
	return both
}

func isOlder(a, b client.Object) bool {
	return cmp.Or(a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time), strings.Compare(a.GetName(), b.GetName())) < 0
}

// emptyList returns a list of the kind S.
func (c *Controller[S]) emptyList() (client.ObjectList, error) {
	gvk, err := c.ownKind()
	if err != nil {
		return nil, err
	}
	gvk.Kind += "List"
	list, err := c.senses.scheme.New(gvk)
	if err != nil {
		return nil, fmt.Errorf("the scheme has no list of the kind: %w", err)
	}
	typed, ok := list.(client.ObjectList)
	if !ok {
		return nil, fmt.Errorf("%T is no list", list)
	}
	return typed, nil
}
