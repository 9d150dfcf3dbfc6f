package builder

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
)

// ReconcileStore deletes the objects that the store's owner controls and the Builder no longer desires, with one List a kind. The
// kinds are ConfigMaps, Services, Deployments, StatefulSets and NetworkPolicies. It handles a kind if the Builder was given a list of
// it, even an empty one, or if an object of it was Put. So an owner has one Builder with a store; several Builders need different
// labels. It never deletes objects that the owner doesn't control, and deletes nothing after an error of this Builder. Without a store
// it does nothing.
func (s *Builder) ReconcileStore() error {
	store := &s.Store.CommonBuilder
	if isNil(store.Client) && isNil(store.CrObject) && store.OwnerRef.UID == "" {
		return nil
	}
	if err := s.lastErrors(); err != nil {
		return fmt.Errorf("nothing is pruned after an error: %w", err)
	}
	if isNil(store.Client) {
		return errors.New("store: its client is nil; give one to NewStore")
	}
	owner, err := store.owner()
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	known, err := s.stored()
	if err != nil {
		return err
	}
	if owner.GetDeletionTimestamp() != nil {
		return nil
	}
	children := builder.NewEngine(scoped{store.Client, store.ObjectMeta.Namespace, store.Labels}, builder.Options{Name: FieldOwner}).For(owner)
	var res builder.Result
	var errs []error
	for _, p := range prunable {
		names, ok := known[p.kind]
		if !ok {
			continue
		}
		deleted, err := deleteOthers(s.context(), children, p.list(), names)
		res.Changes = append(res.Changes, deleted...)
		errs = append(errs, err)
	}
	err = errors.Join(errs...)
	s.Recorder.emit(owner, "Store", res, err)
	return err
}

// deleteOthers deletes the children of a list's kind that aren't among the given ones.
func deleteOthers(
	ctx context.Context, children *builder.Builder, list client.ObjectList, known map[client.ObjectKey]bool,
) ([]builder.Change, error) {
	if err := children.List(ctx, list); err != nil {
		return nil, err
	}
	var deleted []builder.Change
	var errs []error
	err := meta.EachListItem(list, func(o runtime.Object) error {
		obj := o.(client.Object)
		if known[client.ObjectKeyFromObject(obj)] {
			return nil
		}
		res, err := children.Delete(ctx, obj)
		deleted, errs = append(deleted, res.Changes...), append(errs, err)
		return nil
	})
	return deleted, errors.Join(append(errs, err)...)
}

// scoped is a client whose lists have only objects that a store may prune.
type scoped struct {
	client.Client
	namespace string
	labels    map[string]string
}

// List lists the objects that are in the store's namespace and have its labels.
func (c scoped) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if c.namespace != "" {
		opts = append(opts, client.InNamespace(c.namespace))
	}
	if len(c.labels) > 0 {
		opts = append(opts, client.MatchingLabels(c.labels))
	}
	return c.Client.List(ctx, list, opts...)
}
