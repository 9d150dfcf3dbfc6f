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

// InternalStore has the desired objects of an owner, by name and kind, so that [Builder.ReconcileStore] can delete the others.
type InternalStore struct {
	// ObjectNameKind has the kind of each name that was Put. If several kinds have one name it shows the first; the store knows all of
	// them.
	ObjectNameKind map[string]string
	CommonBuilder

	put map[storeKey]bool
}

type storeKey struct{ kind, name string }

// NewStore returns a store for the objects that crObject owns in a namespace. With labels, it prunes only objects that have them; with
// nil, all objects that crObject owns.
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

// Put records that an object of a name (key) and kind (value, such as Deployment) is desired, so that the store doesn't prune it. The
// Builder records the objects that it creates itself.
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

// Exists reports whether an object of a name was Put, or created by the Builder, of any kind.
func (s *Builder) Exists(key string) bool {
	_, known := s.Store.ObjectNameKind[key]
	return known
}

func (s *Builder) put(objects []desired) {
	for _, d := range objects {
		s.Put(d.object.GetName(), d.kind.Kind)
	}
}

// prunable are the kinds that a store prunes, without PersistentVolumeClaims, because their data would be lost.
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

// stored are the names that a store knows, by kind. A kind without names has no desired object.
type stored map[schema.GroupKind]map[client.ObjectKey]bool

func (s stored) add(kind schema.GroupKind, keys ...client.ObjectKey) {
	if s[kind] == nil {
		s[kind] = map[client.ObjectKey]bool{}
	}
	for _, key := range keys {
		s[kind][key] = true
	}
}

// stored returns all desired objects, including those that an upgrade in order has not reached yet.
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

// lastErrors returns the last error of each Reconcile method.
func (s *Builder) lastErrors() error {
	var errs []error
	for _, what := range slices.Sorted(maps.Keys(s.failed)) {
		errs = append(errs, s.failed[what])
	}
	return errors.Join(errs...)
}
