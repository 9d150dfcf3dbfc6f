package builder

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// K8sObjectName is the kind of an object.
type K8sObjectName string

// InternalStore is what the owner should have, by name and kind, so that [Builder.ReconcileStore] can delete the rest.
type InternalStore struct {
	// ObjectNameKind is the kind by name of what was Put. Of several kinds with one name it shows the first; all of
	// them are known.
	ObjectNameKind map[string]string
	CommonBuilder

	put map[storeKey]bool
}

type storeKey struct{ kind, name string }

// NewStore returns a store for the objects that crObject owns in a namespace. With labels, only objects that have them
// are ever pruned; with nil all that crObject owns.
func NewStore(client client.Client, labels map[string]string, namespace string, crObject client.Object) *InternalStore {
	return &InternalStore{
		ObjectNameKind: map[string]string{},
		CommonBuilder: CommonBuilder{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace},
			Client:     client,
			CrObject:   crObject,
			Labels:     labels,
		},
		put: map[storeKey]bool{},
	}
}

// ToNewBuilderStore sets the store.
func ToNewBuilderStore(builder InternalStore) func(*Builder) {
	return func(s *Builder) { s.Store = builder }
}

// Put notes that an object of a name (key) and kind (value, such as Deployment) should exist, so that it isn't pruned.
// What the Builder makes need not be Put.
func (s *Builder) Put(key, value string) {
	if s.Store.ObjectNameKind == nil {
		s.Store.ObjectNameKind = map[string]string{}
	}
	if s.Store.put == nil {
		s.Store.put = map[storeKey]bool{}
	}
	if _, known := s.Store.ObjectNameKind[key]; !known {
		s.Store.ObjectNameKind[key] = value
	}
	s.Store.put[storeKey{value, key}] = true
}

// Exists reports whether an object of a name was Put, or made by the Builder, whatever its kind.
func (s *Builder) Exists(key string) bool {
	_, known := s.Store.ObjectNameKind[key]
	return known
}

func (s *Builder) put(objects []desired) {
	for _, d := range objects {
		s.Put(d.object.GetName(), d.kind.Kind)
	}
}

// prunable are the kinds that a store prunes. PersistentVolumeClaims aren't: the data would go with them.
var prunable = []struct {
	kind schema.GroupKind
	list func() client.ObjectList
}{
	{kindConfigMap, func() client.ObjectList { return &corev1.ConfigMapList{} }},
	{kindService, func() client.ObjectList { return &corev1.ServiceList{} }},
	{kindDeployment, func() client.ObjectList { return &appsv1.DeploymentList{} }},
	{kindStatefulSet, func() client.ObjectList { return &appsv1.StatefulSetList{} }},
	{kindNetworkPolicy, func() client.ObjectList { return &networkingv1.NetworkPolicyList{} }},
}

// stored is what a store knows of: names by kind. A kind without names is one of which there should be nothing.
type stored map[schema.GroupKind]map[client.ObjectKey]bool

func (s stored) add(kind schema.GroupKind, keys ...client.ObjectKey) {
	if s[kind] == nil {
		s[kind] = map[client.ObjectKey]bool{}
	}
	for _, key := range keys {
		s[kind][key] = true
	}
}

// stored returns all that should exist, whether or not it was reconciled already: an upgrade in order may not have
// reached it.
func (s *Builder) stored() (stored, error) {
	workloads, err := s.desiredWorkloads()
	if err != nil {
		return nil, fmt.Errorf("nothing is pruned, because the desired objects are not known: %w", err)
	}
	known := stored{}
	for kind := range s.declared {
		known.add(kind)
	}
	for _, d := range slices.Concat(s.desiredConfigMaps(), s.desiredServices(), s.desiredNetworkPolicies(), workloads) {
		known.add(d.kind, client.ObjectKeyFromObject(d.object))
	}
	put := maps.Clone(s.Store.put)
	for name, kind := range s.Store.ObjectNameKind {
		if put == nil {
			put = map[storeKey]bool{}
		}
		put[storeKey{kind, name}] = true
	}
	for key := range put {
		for _, p := range prunable {
			if strings.EqualFold(p.kind.Kind, key.kind) {
				known.add(p.kind, client.ObjectKey{Namespace: s.Store.ObjectMeta.Namespace, Name: key.name})
			}
		}
	}
	return known, nil
}

// lastErrors returns the errors that Reconcile methods ended with.
func (s *Builder) lastErrors() error {
	var errs []error
	for _, what := range slices.Sorted(maps.Keys(s.failed)) {
		errs = append(errs, s.failed[what])
	}
	return errors.Join(errs...)
}
