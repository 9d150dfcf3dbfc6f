package builder

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
)

// ReconcileStore deletes what the store's owner controls and the Builder no longer desires, with one List a kind:
// ConfigMaps, Services, Deployments, StatefulSets and NetworkPolicies, each if the Builder was given a list of the kind,
// be it empty, or something of the kind was Put. So an owner has one Builder with a store; several need labels of their
// own. Objects of others are never touched, and after an error of this Builder nothing is. Without a store there is
// nothing to do.
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
	pass := builder.NewEngine(scoped{store.Client, store.ObjectMeta.Namespace, store.Labels}, builder.Options{Name: FieldOwner}).For(owner)
	for _, p := range prunable {
		names, ok := known[p.kind]
		if !ok {
			continue
		}
		pass.Prune(p.like(metav1.ObjectMeta{}))
		for key := range names {
			pass.Object(p.like(metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}))
		}
	}
	res, err := pass.ReconcileStore(s.context())
	s.Recorder.emit(owner, "Store", res, err)
	return err
}

// scoped is a client whose lists show only what a store may prune.
type scoped struct {
	client.Client
	namespace string
	labels    map[string]string
}

// List lists what is in the store's namespace and has its labels.
func (c scoped) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if c.namespace != "" {
		opts = append(opts, client.InNamespace(c.namespace))
	}
	if len(c.labels) > 0 {
		opts = append(opts, client.MatchingLabels(c.labels))
	}
	return c.Client.List(ctx, list, opts...)
}
